/** Resident memory by the number of threads: after the start, under mixed load, after thousands of sockets came and went. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../src/config/root.ts'
import { body } from './product-creates.ts'
import { atMost, type Benchmark, inTurn, median, type Result } from './support/benchmark.ts'
import { fill } from './support/dataset.ts'
import { openSubscribers } from './support/fan-out.ts'
import { type BenchServer, type LoadOptions, measureLoad } from './support/load.ts'
import { person, signIn } from './support/people.ts'
import { startVersion, type VersionOptions } from './support/versions.ts'

const counts = [1, 2, 3]
const products = 1000
const requests = 1_000_000
const sockets = 2000
const max = { start: 150, load: 250, further: 70 }
/** Two processes of one version differ for as long as they run, so both sides are started several times. */
const heapStarts = 4
/** An odd number: each side is then as often asked right after itself, without a pause. */
const heapRounds = 3
/** A few seconds have a p99 that depends on a single slow moment. */
const heapSeconds = 15
/** In its first half minute under load a process has a p99 of up to 190 ms, later of 30 to 40. */
const warmSeconds = 40
const maxP99 = 1.1
const largeHeap = [
  process.execPath,
  '--import',
  join(import.meta.dirname, 'support', 'large-heap.ts'),
  join(root, 'bin', 'run.mjs'),
  'run',
  'start',
]

/** In megabytes. */
interface Measured {
  threads: number
  start: number
  /** The largest of those after each part of the load. */
  load: number
  sockets: number
  /** The median of the parts of the load. */
  p99Ms: number
}

export const memory: Benchmark = async () => {
  execFileSync(join(root, 'bin', 'install'), ['--dev'])
  const all: Measured[] = []
  for (const threads of counts) all.push(await measure(threads))
  return [...all.flatMap((each, i) => judge(each, all[i - 1])), await compareHeaps()]
}

interface Heap {
  p99Ms: number
  megabytes: number
}

type Heaps = Record<'bounded' | 'large', Heap>

/** The p99 of the mixed load with one thread, beside that of a heap which takes far more memory. */
async function compareHeaps(): Promise<Result> {
  const rounds: Heaps[] = []
  for (let i = 0; i < heapStarts; i++) rounds.push(...(await measureHeaps()))
  const describe = (side: keyof Heaps) => {
    const medianOf = (key: keyof Heap) => median(rounds.map((round) => round[side][key]))
    return `${medianOf('p99Ms').toFixed(1)} ms with ${medianOf('megabytes').toFixed(0)} MB`
  }
  return atMost('1 thread: p99 under mixed load, of that with a large heap', maxP99, {
    ratios: rounds.map(({ bounded, large }) => bounded.p99Ms / large.p99Ms),
    note: `${describe('bounded')}; ${describe('large')}`,
  })
}

/** What several rounds measured, after one start of both. */
async function measureHeaps(): Promise<Heaps[]> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const servers: BenchServer[] = []
  const start = async (name: string, options: Partial<VersionOptions>) => {
    const databaseUrl = `file:${join(folder, name)}`
    await fill(databaseUrl, products)
    const env = { THREADS: '1', ...options.env }
    const server = await startVersion({ ...options, place: root, databaseUrl, cores: '0-1', env })
    servers.push(server)
    const mixed = await mixedLoad(server)
    measureLoad(server.url, { ...mixed, seconds: warmSeconds })
    return () => {
      const { p99Ms } = measureLoad(server.url, { ...mixed, seconds: heapSeconds })
      return { p99Ms, megabytes: residentMegabytes(server) }
    }
  }
  try {
    const bounded = await start('bounded.db', {})
    const large = await start('large.db', { command: largeHeap, env: { MALLOC_ARENA_MAX: '2' } })
    return inTurn(heapRounds, { bounded, large })
  } finally {
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true })
  }
}

function judge(measured: Measured, before: Measured | undefined): Result[] {
  const { threads, start, load, p99Ms } = measured
  const described = `${threads} ${threads === 1 ? 'thread' : 'threads'}`
  const after =
    `${load.toFixed(0)} MB under ${requests.toLocaleString('en')} requests (p99 ${p99Ms.toFixed(1)} ms), ` +
    `${measured.sockets.toFixed(0)} MB after ${sockets.toLocaleString('en')} sockets came and went`
  if (!before) {
    return [
      {
        claim: `${described}: at most ${max.start} MB after the start`,
        measured: `${start.toFixed(0)} MB`,
        isMet: start <= max.start,
      },
      { claim: `${described}: at most ${max.load} MB under mixed load`, measured: after, isMet: load <= max.load },
    ]
  }
  const more = start - before.start
  return [
    {
      claim: `${described}: at most ${max.further} MB more than with ${before.threads} after the start`,
      measured: `${start.toFixed(0)} MB, ${more.toFixed(0)} MB more; ${after}`,
      isMet: more <= max.further,
    },
  ]
}

async function measure(threads: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const databaseUrl = `file:${join(folder, 'bench.db')}`
  await fill(databaseUrl, products)
  const env = { THREADS: String(threads), GQL_WS_MAX_PER_ADDRESS: String(sockets) }
  // Dependencies are put into the compile cache by the first start.
  await (await startVersion({ place: root, databaseUrl, cores: '0-1', env })).stop()
  const server = await startVersion({ place: root, databaseUrl, cores: '0-1', env })
  try {
    // The garbage of the start is collected when nobody has been served for a while.
    await sleep(6000)
    const start = residentMegabytes(server)
    const { load, p99Ms } = await keepBusy(server)
    const subscribers = await openSubscribers(server.url, { count: sockets, protocol: 'graphql-transport-ws' })
    await sleep(1000)
    subscribers.close()
    await sleep(2000)
    return { threads, start, load, p99Ms, sockets: residentMegabytes(server) }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Five seconds of reads, listings, GraphQL, creates and a few sign-ins. */
async function mixedLoad(server: BenchServer): Promise<LoadOptions> {
  const env = {
    TOKEN: await signIn(server.url),
    CREATE: body,
    LOGIN: JSON.stringify(person),
    QUERY: JSON.stringify({ query: '{ products(perPage: 20) { data { id name price } } }' }),
  }
  const script = join(import.meta.dirname, 'support', 'mixed.lua')
  return { connections: 64, seconds: 5, script, env, cores: '0-1' }
}

async function keepBusy(server: BenchServer): Promise<{ load: number; p99Ms: number }> {
  const mixed = await mixedLoad(server)
  const p99s: number[] = []
  let [done, load] = [0, 0]
  while (done < requests) {
    const measured = measureLoad(server.url, mixed)
    done += measured.requests
    load = Math.max(load, residentMegabytes(server))
    p99s.push(measured.p99Ms)
    process.stderr.write(
      `\r  ${done.toLocaleString('en')} of ${requests.toLocaleString('en')} requests, ${load.toFixed(0)} MB `,
    )
  }
  process.stderr.write('\r\u001b[K')
  return { load, p99Ms: median(p99s) }
}

function residentMegabytes({ pid }: BenchServer): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
