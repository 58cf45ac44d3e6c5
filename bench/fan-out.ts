/**
 * One value to thousands of subscribers: beside a loop over bare sockets of the library with the same bytes, and beside
 * the server of graphql-ws. The processor time is the server's alone; the rate depends on the subscribers, too.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { atLeast, type Benchmark, median, perSecond, reported } from './support/benchmark.ts'
import {
  firstCount,
  messageOf,
  openSubscribers,
  type ProtocolName,
  type States,
  type Subscribers,
} from './support/fan-out.ts'
import { type BenchServer, startServer } from './support/load.ts'
import { startService } from './support/service.ts'

const count = 5000
const values = 20
const rounds = 9

const everybody = count.toLocaleString('en')
const exposeGc = { NODE_OPTIONS: '--expose-gc' }
const ownEnv = { ...exposeGc, GQL_WS_MAX_PER_ADDRESS: String(count), MAX_EVENT_LOOP_DELAY_MS: '0' }
const env = { ...exposeGc, NODE_ENV: 'production' }

const starts = {
  ours: () => startService('fan-out.ts', ownEnv),
  bare: (protocol: ProtocolName) => startServer('broadcast.ts', { ...env, PROTOCOL: protocol }),
  'graphql-ws': () => startServer('graphql-ws.ts', env),
  'graphql-ws, executing once': () => startServer('graphql-ws.ts', { ...env, SHARED: '1' }),
}

type Name = keyof typeof starts

interface Side {
  server: BenchServer
  protocol: ProtocolName
  subscribers: Subscribers
  bytesEach: number
}

interface Measured {
  /** Messages per second. */
  rate: number
  /** Processor time of the server for a message. */
  microseconds: number
}

type Figures = Record<Name, { rounds: Measured[]; bytesEach: number }>

export const fanOut: Benchmark = async () => {
  const plain = await measureAll('plain-json', ['ours', 'bare'])
  const transport = await measureAll('graphql-transport-ws', ['ours', 'bare', 'graphql-ws'])
  const shared = await measureAll('graphql-transport-ws', ['ours', 'graphql-ws, executing once'])
  return [
    atLeast(`a value to ${everybody} subscribers, of a loop over bare sockets`, 0.6, compare(plain, 'bare')),
    reported('the same by graphql-transport-ws, of a loop over bare sockets', compare(transport, 'bare')),
    reported(`a value to ${everybody} subscribers, times the server of graphql-ws`, compare(transport, 'graphql-ws')),
    reported(
      'the same, times the server of graphql-ws that executes each value once for all',
      compare(shared, 'graphql-ws, executing once'),
    ),
  ]
}

function compare(figures: Figures, other: Name): { ratios: number[]; note: string } {
  const [ours, theirs] = [figures.ours, figures[other]]
  const rate = ({ rounds }: Figures[Name]) => perSecond(median(rounds.map((round) => round.rate)))
  const time = ({ rounds }: Figures[Name]) => median(rounds.map((round) => round.microseconds)).toFixed(1)
  return {
    ratios: ours.rounds.map((round, i) => round.rate / (theirs.rounds[i] as Measured).rate),
    note:
      `${rate(ours)} of ${rate(theirs)}; ${time(ours)} µs of processor time for a message, ${other} ${time(theirs)}; ` +
      `${ours.bytesEach} bytes for each subscriber, ${other} ${theirs.bytesEach}`,
  }
}

/** Rounds are interleaved, every second one in reverse order. */
async function measureAll(protocol: ProtocolName, names: Name[]): Promise<Figures> {
  const sides = new Map<Name, Side>()
  try {
    for (const name of names) sides.set(name, await open(await starts[name](protocol), protocol))
    for (const side of sides.values()) await measure(side)
    const figures = {} as Figures
    for (const [name, { bytesEach }] of sides) figures[name] = { rounds: [], bytesEach }
    for (let i = 0; i < rounds; i++) {
      const order = i % 2 === 0 ? [...sides] : [...sides].reverse()
      for (const [name, side] of order) figures[name].rounds.push(await measure(side))
    }
    return figures
  } finally {
    for (const { server, subscribers } of sides.values()) {
      subscribers.close()
      await server.stop()
    }
  }
}

async function open(server: BenchServer, protocol: ProtocolName): Promise<Side> {
  const before = await get(server, '/memory')
  const subscribers = await openSubscribers(server.url, { count, protocol })
  while ((await get(server, '/state')).subscribers < count) await sleep(100)
  const after = await get(server, '/memory')
  return { server, protocol, subscribers, bytesEach: Math.round((after.heap - before.heap) / count) }
}

async function get<Path extends keyof States>({ url }: BenchServer, path: Path): Promise<States[Path]> {
  return (await (await fetch(`${url}${path}`)).json()) as States[Path]
}

async function measure({ server, protocol, subscribers }: Side): Promise<Measured> {
  const before = await get(server, '/state')
  const messages = values * count
  const done = subscribers.receive((2 + messageOf(protocol, firstCount).length) * messages)
  const startedAt = performance.now()
  await Promise.all([fetch(`${server.url}/publish?values=${values}`), done])
  const seconds = (performance.now() - startedAt) / 1000
  const after = await get(server, '/state')
  return { rate: messages / seconds, microseconds: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / messages }
}
