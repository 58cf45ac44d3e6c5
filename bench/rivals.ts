/**
 * A category by price with its total, and durable creates, compared with a minimal program over `node:sqlite` or `pg` that runs
 * the same statements on the same tables.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '../src/core/clock.ts'
import { atLeast, type Benchmark, median, perSecond, type Result } from './support/benchmark.ts'
import { fillWithoutIndexes, insertNumbered } from './support/bulk-fill.ts'
import { openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type BenchServer, load, startServer } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { startService } from './support/service.ts'

const products = 30_000
const categories = 10
const rounds = 7
const seconds = 2
const category = 'category 3'
const path = '/api/v2/products'
const list = `${path}?sort=-price&filter[category]=${encodeURIComponent(category)}`

/** Of the category that is listed, so that each create changes the total. */
const body = JSON.stringify({ name: 'Desk Lamp', description: 'Bright and warm', price: 19.99, stock: 3, category })

interface Side {
  server: BenchServer
  token: string
}

type Sides = Record<'service' | 'bare', Side>

export const rivals: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databases = { service: await createDatabase(), bare: await createDatabase() }
  for (const url of Object.values(databases)) await fill(url)
  const service = await startService('service.ts', { DATABASE_URL: databases.service })
  const bare = await startServer('bare-products.ts', { DATABASE_URL: databases.bare })
  try {
    const sides: Sides = {
      service: { server: service, token: await signIn(service.url) },
      bare: { server: bare, token: '' },
    }
    await expectSame(sides)
    const results: Result[] = []
    const add = async (claim: string, target: number, ask: (side: Side) => number | Promise<number>) => {
      const all: Record<keyof Sides, number>[] = []
      for (let round = 0; round < rounds; round++) {
        const order = round % 2 === 0 ? (['service', 'bare'] as const) : (['bare', 'service'] as const)
        const rates = { service: 0, bare: 0 }
        for (const side of order) rates[side] = await ask(sides[side])
        all.push(rates)
      }
      const rate = (side: keyof Sides) => perSecond(median(all.map((round) => round[side])))
      const result = atLeast(`${name}: ${claim}, relative to a bare program`, target, {
        ratios: all.map((round) => round.service / round.bare),
        note: `${rate('service')} of ${rate('bare')}`,
      })
      process.stderr.write(`\r\u001b[K  ${result.measured} `)
      results.push(result)
    }
    const read = ({ server }: Side) => load(server.url + list, { connections: 64, seconds })
    const create = (connections: number) => (side: Side) =>
      load(side.server.url + path, { connections, seconds, script, env: { TOKEN: side.token, BODY: body } })
    // For V8 to compile: a single connection sends too little.
    for (const side of Object.values(sides)) {
      for (const ask of [read, create(64), read, create(64), create(1)]) ask(side)
    }
    await add('a category by price with its total', 3, read)
    await add('a category by price with its total, during 100 creates a second', 1, async (side) => {
      const stop = await keepCreating(side)
      const rate = read(side)
      await stop()
      return rate
    })
    await add('durable creates over one connection', 0.9, create(1))
    await add('durable creates over 64 connections', 2.5, create(64))
    process.stderr.write('\r\u001b[K')
    return results
  } finally {
    await service.stop()
    await bare.stop()
  }
}

async function fill(url: string): Promise<void> {
  const db = await openDataset(url)
  const now = `CAST('${systemClock.nowIso()}' AS ${db.dialect === 'sqlite' ? 'TEXT' : 'TIMESTAMPTZ'})`
  try {
    await fillWithoutIndexes(db, 'products', () =>
      insertNumbered(db, {
        table: 'products',
        columns: [
          'name',
          'name_key',
          'slug',
          'description',
          'price_cents',
          'category',
          'stock',
          'active',
          'version',
          'created_at',
          'updated_at',
        ],
        select: `'Product ' || i, 'product ' || i, 'product-' || i, 'A product to try things, with a description of a usual length.',
          100 + (i * 7919) % 100003, 'category ' || (i % ${categories}), i % 50, TRUE, 1,
          ${now}, ${now}`,
        count: products,
      }),
    )
  } finally {
    await db.close()
  }
}

/** A list of something else would make the measurement meaningless. */
async function expectSame({ service, bare }: Sides): Promise<void> {
  const idsAt = async ({ server }: Side) => {
    const { data, meta } = (await (await fetch(server.url + list)).json()) as {
      data: { id: number }[]
      meta: { total: number | null }
    }
    return JSON.stringify([data.map(({ id }) => id), meta.total])
  }
  const [one, other] = [await idsAt(service), await idsAt(bare)]
  if (one !== other) throw new Error(`the lists differ: ${one} and ${other}`)
}

async function keepCreating({ server, token }: Side): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'support/steady-creates.ts')], {
    env: { ...process.env, URL: server.url, TOKEN: token, BODY: body },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGTERM')
    await ended
  }
}
