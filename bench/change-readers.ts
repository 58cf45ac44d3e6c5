/**
 * What a thousand live readers of the change log add to a create: up to its answer, which is what its client waits for, and
 * altogether, with the delivery to all of them. Two services take turns, one of which has the readers.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRunFolder } from '../test/support/run-folder.ts'
import { startPostgres } from '../test/support/servers.ts'
import { atMost, type Benchmark, median, type Result, reported } from './support/benchmark.ts'
import { type ChangeReaders, createCost, openReaders, type ReaderState } from './support/change-readers.ts'
import { createPostgresDatabase } from './support/dataset.ts'
import { createClient, type Send } from './support/http.ts'
import type { BenchServer } from './support/load.ts'
import { signIn } from './support/people.ts'
import { startService } from './support/service.ts'

const mix = { 'server-sent events': 500, 'plain sockets': 250, 'graphql-transport-ws': 250 }
const count = Object.values(mix).reduce((sum, n) => sum + n, 0)
const rounds = 9
const createsPerRound = 40
/** For the creates of a round that come at a steady rate. */
const perSecond = 100
/** Deliveries of one create are over before the next. */
const quietMs = 40

const many = count.toLocaleString('en')

interface Side {
  server: BenchServer
  send: Send
  token: string
  readers: ChangeReaders | undefined
  close(): Promise<void>
}

/** Microseconds of processor time for each create. */
interface Costs {
  answered: number
  altogether: number
  steady: number
}

export const changeReaders: Benchmark = async () => {
  const folder = createRunFolder()
  try {
    const server = await startPostgres(folder.path, { fsync: 'on', full_page_writes: 'on' })
    const onPostgres = async () => ({ DATABASE_URL: await createPostgresDatabase(server) })
    return [...(await measureEngine('SQLite', async () => ({}))), ...(await measureEngine('PostgreSQL', onPostgres))]
  } finally {
    await folder.remove()
  }
}

/** Each service has a database of its own: readers get what any service on theirs has written. */
async function measureEngine(engine: string, createEnv: () => Promise<Record<string, string>>): Promise<Result[]> {
  const alone = await openSide({ ...limits, ...(await createEnv()) })
  const watched = await openSide({ ...limits, ...(await createEnv()) }, mix)
  try {
    const pairs: { alone: Costs; watched: Costs }[] = []
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      const order = round % 2 === 0 ? [alone, watched] : [watched, alone]
      const costs = new Map<Side, Costs>()
      for (const side of order) costs.set(side, await measure(side))
      if (round > 0) pairs.push({ alone: costs.get(alone) as Costs, watched: costs.get(watched) as Costs })
    }
    return judge(engine, pairs)
  } finally {
    await alone.close()
    await watched.close()
  }
}

const limits = { GQL_WS_MAX_PER_ADDRESS: String(2 * count), MAX_EVENT_LOOP_DELAY_MS: '0', THREADS: '1' }

function judge(engine: string, pairs: { alone: Costs; watched: Costs }[]): Result[] {
  const compared = (kind: keyof Costs) => {
    const shown = (side: 'alone' | 'watched') => median(pairs.map((pair) => pair[side][kind])).toFixed(0)
    const added = median(pairs.map((pair) => pair.watched[kind] - pair.alone[kind])) / count
    return {
      ratios: pairs.map((pair) => pair.watched[kind] / pair.alone[kind]),
      note: `${shown('watched')} µs and ${shown('alone')} µs; ${added.toFixed(2)} µs for each reader`,
    }
  }
  return [
    atMost(`${engine}: a create up to its answer, with ${many} live readers`, 1.1, compared('answered')),
    reported(`${engine}: a create and its delivery to ${many} readers, one at a time`, compared('altogether')),
    reported(`${engine}: the same with ${perSecond} creates a second`, compared('steady')),
  ]
}

async function openSide(env: Record<string, string>, wanted?: typeof mix): Promise<Side> {
  const server = await startService('change-readers.ts', env)
  const { send, close } = createClient(server.url, { connections: 8 })
  const readers = wanted && (await openReaders(server.url, wanted))
  while (wanted && (await stateOf(server)).readers < count) await sleep(50)
  return {
    server,
    send,
    token: await signIn(server.url),
    readers,
    async close() {
      close()
      readers?.close()
      await server.stop()
    },
  }
}

async function stateOf({ url }: BenchServer): Promise<ReaderState> {
  return (await (await fetch(`${url}/state`)).json()) as ReaderState
}

async function measure(side: Side): Promise<Costs> {
  const before = await stateOf(side.server)
  for (let i = 0; i < createsPerRound; i++) {
    await create(side)
    await side.readers?.receive(count)
    await sleep(quietMs)
  }
  const between = await stateOf(side.server)
  await createSteadily(side)
  const after = await stateOf(side.server)
  const answered = between.answered.cpuSeconds - before.answered.cpuSeconds
  return {
    answered: (answered * 1e6) / createsPerRound,
    altogether: ((between.cpuSeconds - before.cpuSeconds) * 1e6) / createsPerRound,
    steady: ((after.cpuSeconds - between.cpuSeconds) * 1e6) / createsPerRound,
  }
}

async function createSteadily(side: Side): Promise<void> {
  const startedAt = performance.now()
  const sent: Promise<void>[] = []
  for (let i = 0; i < createsPerRound; i++) {
    await sleep(Math.max(0, startedAt + (i * 1000) / perSecond - performance.now()))
    sent.push(create(side))
  }
  await Promise.all(sent)
  await side.readers?.receive(createsPerRound * count)
}

async function create({ send, token }: Side): Promise<void> {
  const { status } = await send('POST', createCost.path, { json: createCost.body, token })
  if (status !== 201) throw new Error(`a create was answered with ${status}`)
}
