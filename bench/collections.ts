/** Lists of a collection whose reader sees one row in a hundred: of a million rows relative to a thousand. */
import { join } from 'node:path'
import { root } from '../src/config/root.ts'
import { systemClock } from '../src/core/clock.ts'
import { password } from '../test/support/people.ts'
import { atMost, type Benchmark, median, type Result } from './support/benchmark.ts'
import { fillWithoutIndexes, insertNumbered, settle } from './support/bulk-fill.ts'
import { openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { createClient, type Timed } from './support/http.ts'
import { startService } from './support/service.ts'

const sizes = { few: 1000, many: 1_000_000 }
const target = 1.6
const rounds = 5
const requestsPerRound = 10

const readers = {
  'of one row in a hundred': 'one-in-a-hundred@example.com',
  'of three rows': 'three@example.com',
  'of none': 'none@example.com',
}

const lists: Readonly<Record<string, string>> = {
  'the first page': '/api/tickets',
  'the first page by title': '/api/tickets?sort=title',
  'the last page by title': '/api/tickets?sort=-title',
  'a filter': '/api/tickets?filter[status]=open',
  'a filter, by title': '/api/tickets?filter[status]=open&sort=title',
  'a filter of a list': '/api/tickets?filter[tags]=t0',
  'a search': '/api/tickets?q=title',
  'page 5': '/api/tickets?page=5',
}

interface Reader {
  get(path: string): Promise<Timed>
}

type Side = Record<keyof typeof readers, Reader>

export const collections: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const stops: (() => Promise<void>)[] = []
  try {
    const open = async (rows: number) => {
      const url = await createDatabase()
      const { side, stop } = await serveTickets(url, rows)
      stops.push(stop)
      return side
    }
    const [few, many] = [await open(sizes.few), await open(sizes.many)]
    const results: Result[] = []
    const add = (result: Result) => {
      process.stderr.write(`\r\u001b[K  ${result.measured} `)
      results.push(result)
    }
    for (const reader of Object.keys(readers) as (keyof typeof readers)[]) {
      const sides = { few: few[reader], many: many[reader] }
      for (const [list, path] of Object.entries(lists)) {
        add(await compare(`${name}, a reader ${reader}: ${list}`, sides, { few: path, many: path }))
      }
      const deep = { few: await findDeepCursor(sides.few), many: await findDeepCursor(sides.many) }
      add(await compare(`${name}, a reader ${reader}: a deep cursor`, sides, deep))
    }
    process.stderr.write('\r\u001b[K')
    return results
  } finally {
    for (const stop of stops) await stop()
  }
}

async function findDeepCursor({ get }: Reader): Promise<string> {
  let path = '/api/tickets?per_page=2'
  for (let i = 0; i < 3; i++) {
    const { next } = (JSON.parse((await get(path)).body) as { meta: { next: string | null } }).meta
    if (next === null) return path
    path = `/api/tickets?cursor=${next}`
  }
  return path
}

/** In turns, so that what else the machine does is in both. */
async function compare(
  claim: string,
  sides: Record<'few' | 'many', Reader>,
  paths: Record<'few' | 'many', string>,
): Promise<Result> {
  const measured: { few: number; many: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const ms: Record<'few' | 'many', number[]> = { few: [], many: [] }
    for (let i = 0; i < requestsPerRound; i++) {
      const order = i % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const)
      for (const side of order) {
        const answer = await sides[side].get(paths[side])
        if (answer.status !== 200) throw new Error(`${paths[side]} was answered with ${answer.status}: ${answer.body}`)
        ms[side].push(answer.ms)
      }
    }
    if (round > 0) measured.push({ few: median(ms.few), many: median(ms.many) })
  }
  return atMost(`${claim}, of a million rows relative to a thousand`, target, {
    ratios: measured.map(({ few, many }) => many / few),
    note: `${median(measured.map(({ many }) => many)).toFixed(2)} ms and ${median(measured.map(({ few }) => few)).toFixed(2)} ms`,
  })
}

async function serveTickets(databaseUrl: string, rows: number): Promise<{ side: Side; stop(): Promise<void> }> {
  const server = await startService('service.ts', {
    DATABASE_URL: databaseUrl,
    LATCHKEY_EXTENSIONS: join(root, 'examples/helpdesk/helpdesk.ts'),
    MAX_EVENT_LOOP_DELAY_MS: '0',
    RATE_LIMIT_LOGIN: '1000/60',
  })
  const { send, close } = createClient(server.url, { connections: 1 })
  const tokens: [string, Reader][] = []
  for (const [reader, email] of Object.entries(readers)) {
    const json = { email, password, name: 'Ada' }
    await send('POST', '/api/auth/register', { json })
    const { body } = await send('POST', '/api/auth/login', { json })
    const token = (JSON.parse(body) as { access_token: string }).access_token
    tokens.push([reader, { get: (path) => send('GET', path, { token }) }])
  }
  await fill(databaseUrl, rows)
  return {
    side: Object.fromEntries(tokens) as Side,
    async stop() {
      close()
      await server.stop()
    },
  }
}

async function fill(url: string, count: number): Promise<void> {
  const db = await openDataset(url)
  const time = `CAST('${systemClock.nowIso()}' AS ${db.dialect === 'sqlite' ? 'TEXT' : 'TIMESTAMPTZ'})`
  const title = `((i * 7919) % 1000003)`
  const insert = (table: string, columns: Record<string, string>, rows: number) => {
    const all = { ...columns, created_at: time, updated_at: time }
    return insertNumbered(db, { table, columns: Object.keys(all), select: Object.values(all).join(), count: rows })
  }
  try {
    // The reader of few rows is a member of the first team, which has no tickets.
    await insert(
      'teams',
      { name: `'Team ' || i`, owner: '3', members: `CASE i WHEN 0 THEN '[1,2,3]' ELSE '[]' END` },
      2,
    )
    await settle(db, 'teams')
    // A million entries of the change log would take longer than everything else.
    await db.write({ sql: `DROP TRIGGER tickets_logged${db.dialect === 'sqlite' ? '' : ' ON tickets'}` })
    await fillWithoutIndexes(db, 'tickets', () =>
      insert(
        'tickets',
        {
          title: `'Title ' || ${title}`,
          title__key: `'title ' || ${title}`,
          body: `'Body ' || i`,
          body__key: `'body ' || i`,
          team: '2',
          author: `CASE WHEN i % 100 = 0 THEN 1 WHEN i % ${count / 4} = 51 THEN 2 ELSE 3 END`,
          status: `CASE i / 100 % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'pending' ELSE 'closed' END`,
          priority: '1 + i % 5',
          tags: `'["t' || (i / 100 % 50) || '"]'`,
        },
        count,
      ),
    )
    await settle(db, 'tickets__tags')
  } finally {
    await db.close()
  }
}
