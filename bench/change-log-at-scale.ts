/** Reading the change log: 10,000 entries by one client, and a million entries compared with a thousand. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRunFolder } from '../test/support/run-folder.ts'
import { startPostgres } from '../test/support/servers.ts'
import { atMost, type Benchmark, median, type Result } from './support/benchmark.ts'
import { createCost, openReaders, type ReaderKind, readerKinds } from './support/change-readers.ts'
import { createPostgresDatabase, createSqliteDataset, fillLog } from './support/dataset.ts'
import { createClient } from './support/http.ts'
import { type BenchServer, load } from './support/load.ts'
import { signIn } from './support/people.ts'
import { startService } from './support/service.ts'

const large = 1_000_000
const small = 1000
const rounds = 5
const entriesRead = 10_000
const perPage = 1000
const wakeUps = 20
const path = `${createCost.path}/changes`

export const changeLogAtScale: Benchmark = async () => {
  const files = [await createSqliteDataset(small, fillLog), await createSqliteDataset(large, fillLog)] as const
  const folder = createRunFolder()
  try {
    const server = await startPostgres(folder.path, { fsync: 'on', full_page_writes: 'on', shared_buffers: '512MB' })
    const databases = [await createPostgresDatabase(server), await createPostgresDatabase(server)] as const
    await fillLog(databases[0], small)
    await fillLog(databases[1], large)
    return [
      ...(await measureEngine('SQLite', [files[0].url, files[1].url])),
      ...(await measureEngine('PostgreSQL', databases)),
    ]
  } finally {
    for (const file of files) file.remove()
    await folder.remove()
  }
}

async function measureEngine(engine: string, [few, many]: readonly [string, string]): Promise<Result[]> {
  const [a, b] = [await startService('service.ts', envOf(few)), await startService('service.ts', envOf(many))]
  try {
    return [...(await compareSizes(engine, [a, b])), ...(await readAll(engine, b))]
  } finally {
    await a.stop()
    await b.stop()
  }
}

const envOf = (url: string) => ({ DATABASE_URL: url, THREADS: '1', MAX_EVENT_LOOP_DELAY_MS: '0' })

/** Milliseconds of each. */
type Costs = Record<'the first page' | 'a page in the middle' | 'the newest page' | 'a wake-up', number>

async function compareSizes(engine: string, [few, many]: readonly [BenchServer, BenchServer]): Promise<Result[]> {
  await measure(few, 1)
  await measure(many, 1)
  const pairs: { few: Costs; many: Costs }[] = []
  for (let round = 0; round < rounds; round++) pairs.push({ few: await measure(few, 2), many: await measure(many, 2) })
  return (Object.keys((pairs[0] as { few: Costs }).few) as (keyof Costs)[]).map((name) => {
    const shown = (size: 'few' | 'many') => median(pairs.map((pair) => pair[size][name])).toFixed(3)
    return atMost(`${engine}: ${name} of a million entries, relative to a thousand`, 1.3, {
      ratios: pairs.map((pair) => pair.many[name] / pair.few[name]),
      note: `${shown('many')} ms and ${shown('few')} ms`,
    })
  })
}

async function measure(server: BenchServer, seconds: number): Promise<Costs> {
  const [middle, newest] = await findCursors(server)
  const page = (after: string) => {
    const url = `${server.url}${path}?after=${after}&limit=100`
    return 1000 / load(url, { connections: 8, seconds })
  }
  return {
    'the first page': page('0'),
    'a page in the middle': page(middle),
    'the newest page': page(newest),
    'a wake-up': await measureWakeUp(server),
  }
}

interface Page {
  data: { cursor: string }[]
  meta: { cursor: string; more: boolean }
}

async function readPage({ url }: BenchServer, query: string): Promise<Page> {
  const response = await fetch(`${url}${path}?${query}`)
  if (response.status !== 200) throw new Error(`${query}: ${response.status}`)
  return (await response.json()) as Page
}

/** From the request of a create until a reader has its entry. */
async function measureWakeUp({ url }: BenchServer): Promise<number> {
  const token = await signIn(url)
  const { send, close } = createClient(url, { connections: 1 })
  const readers = await openReaders(url, { ...none, 'server-sent events': 1 })
  const times: number[] = []
  for (let i = 0; i < wakeUps; i++) {
    await sleep(30)
    const startedAt = performance.now()
    await send('POST', createCost.path, { json: createCost.body, token })
    await readers.receive(1)
    times.push(performance.now() - startedAt)
  }
  readers.close()
  close()
  return median(times)
}

const none = Object.fromEntries(readerKinds.map((kind) => [kind, 0])) as Record<ReaderKind, number>

async function readAll(engine: string, server: BenchServer): Promise<Result[]> {
  const from = String(large >> 1)
  const ways: Record<string, () => Promise<void>> = {
    'REST pages': () => readPages(server, from),
    ...Object.fromEntries(readerKinds.map((kind) => [kind, () => readStream(server, kind, from)])),
  }
  const results: Result[] = []
  for (const [name, read] of Object.entries(ways)) {
    await read()
    const seconds: number[] = []
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now()
      await read()
      seconds.push((performance.now() - startedAt) / 1000)
    }
    const all = entriesRead.toLocaleString('en')
    const note = 'the log has a million'
    results.push(atMost(`${engine}: ${all} entries by ${name}, in seconds`, 1, { ratios: seconds, note }))
  }
  return results
}

/** From which the entries in the middle and the last hundred are read. */
async function findCursors(server: BenchServer): Promise<[middle: string, newest: string]> {
  const cursors: string[] = ['0']
  for (let more = true; more; ) {
    const { data, meta } = await readPage(server, `after=${cursors.at(-1)}&limit=100`)
    if (data.length > 0) cursors.push(meta.cursor)
    more = meta.more
  }
  return [cursors[cursors.length >> 1] ?? '0', cursors.at(-2) ?? '0']
}

async function readPages(server: BenchServer, from: string): Promise<void> {
  for (let after = from, left = entriesRead; left > 0; ) {
    const { data, meta } = await readPage(server, `after=${after}&limit=${perPage}`)
    left -= data.length
    after = meta.cursor
  }
}

async function readStream({ url }: BenchServer, kind: ReaderKind, after: string): Promise<void> {
  const readers = await openReaders(url, { ...none, [kind]: 1 }, after)
  await readers.receive(entriesRead)
  readers.close()
}
