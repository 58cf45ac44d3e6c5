/**
 * Processor time until the service is ready, beside a bare Fastify server with one route; resident size; `--help`; and how
 * long whoever edits a file waits, for `npm run dev` and for `npm run test:fast`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../src/config/root.ts'
import { atMost, type Benchmark, median, type Result, reported } from './support/benchmark.ts'
import { cpuSecondsOf, startVersion, type VersionOptions } from './support/versions.ts'

const rounds = 10
/** By then the garbage of the start is collected. */
const settleMs = 6000
const max = { oneThread: 2, twoThreads: 3, helpSeconds: 0.1, restartSeconds: 1, testSeconds: 2 }
const ticksPerSecond = 100

const kinds = ['bare', 'one', 'two', 'all', 'sources'] as const
type Kind = (typeof kinds)[number]

interface Started {
  cpuSeconds: number
  readyMs: number
}

export const start: Benchmark = async () => {
  spawnSync(join(root, 'bin', 'install'), ['--dev'], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const place = { place: root, databaseUrl: `file:${join(folder, 'bench.db')}`, cores: '0-1', pollMs: 5 }
  const options: Record<Kind, VersionOptions> = {
    bare: { ...place, command: [process.execPath, join(import.meta.dirname, 'servers', 'one-route.mjs')] },
    one: { ...place, env: { THREADS: '1' } },
    two: { ...place, env: { THREADS: '2' } },
    all: { ...place, env: { THREADS: '2', NODE_ENV: 'production' } },
    sources: { ...place, env: { THREADS: '1', LATCHKEY_BUNDLE: 'off' } },
  }
  const measured: Record<Kind, Started[]> = { bare: [], one: [], two: [], all: [], sources: [] }
  try {
    // The first one creates the tables, and fills the caches of Node and of the operating system.
    for (const kind of kinds) await measureStart(options[kind])
    for (let round = 0; round < rounds; round++) {
      for (const kind of kinds) measured[kind].push(await measureStart(options[kind]))
    }
    const ratios = (kind: Kind) => ({
      ratios: measured[kind].map(({ cpuSeconds }, i) => cpuSeconds / (measured.bare[i] as Started).cpuSeconds),
      note: `${describe(measured[kind])}; a bare Fastify server with one route ${describe(measured.bare)}`,
    })
    const claim = 'processor time until ready, of that of a bare server'
    return [
      atMost(`one thread: ${claim}`, max.oneThread, ratios('one')),
      atMost(`two threads: ${claim}`, max.twoThreads, ratios('two')),
      reported(`two threads in production, where both listen before it is ready: ${claim}`, ratios('all')),
      reported(`one thread, from the sources: ${claim}`, ratios('sources')),
      measureHelp(),
      await measureRestarts(folder),
      await measureTests(),
      await compareMemory('one thread', options.one),
      await compareMemory('two threads', options.two),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function describe(all: Started[]): string {
  const medianOf = (key: keyof Started) => median(all.map((each) => each[key]))
  return `${medianOf('cpuSeconds').toFixed(3)} s, ready after ${medianOf('readyMs').toFixed(0)} ms`
}

async function measureStart(options: VersionOptions): Promise<Started> {
  const startedAt = performance.now()
  const server = await startVersion(options)
  const readyMs = performance.now() - startedAt
  // `bin/latchkey` begins as a shell, which starts other programs.
  const cpuSeconds = cpuSecondsOf(server) + childSecondsOf(server.pid)
  await server.stop()
  return { cpuSeconds, readyMs }
}

/** Processor time of the children of a process that have ended. */
function childSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return fields.slice(13, 15).reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond
}

function measureHelp(): Result {
  const before = childSecondsOf(process.pid)
  for (let i = 0; i < rounds; i++) spawnSync(join(root, 'bin', 'latchkey'), ['--help'], { stdio: 'ignore' })
  const seconds = (childSecondsOf(process.pid) - before) / rounds
  return {
    claim: `latchkey --help: at most ${max.helpSeconds} s of processor time`,
    measured: `${seconds.toFixed(3)} s, mean of ${rounds}`,
    isMet: seconds <= max.helpSeconds,
  }
}

/** From a saved file until the service listens again. */
async function measureRestarts(folder: string): Promise<Result> {
  const saved = join(root, 'src', 'features', 'posts', 'posts.service.ts')
  const env = { PORT: '0', GQL_WS_PORT: '0', DATABASE_URL: `file:${join(folder, 'dev.db')}` }
  const dev = runScript(['dev'], env)
  try {
    await dev.prints(/is listening/)
    const seconds: number[] = []
    for (let round = 0; round < rounds; round++) {
      // Whoever has just started it has not saved yet.
      await sleep(1000)
      const savedAt = performance.now()
      utimesSync(saved, new Date(), new Date())
      await dev.prints(/is listening/)
      seconds.push((performance.now() - savedAt) / 1000)
    }
    return describeWait('npm run dev listens again after a file was saved', seconds, max.restartSeconds)
  } finally {
    await dev.end()
  }
}

/** Until the first test of a file has passed. */
async function measureTests(): Promise<Result> {
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    const run = runScript(['test:fast', '--', 'test/api/problem-details.test.ts'])
    await run.prints(/[✔✖]/)
    seconds.push((performance.now() - startedAt) / 1000)
    await run.ended
  }
  return describeWait('npm run test:fast of one file has its first result', seconds, max.testSeconds)
}

function describeWait(claim: string, seconds: number[], most: number): Result {
  return {
    claim: `${claim}: at most ${most} s`,
    measured: `${median(seconds).toFixed(2)} s, median of ${seconds.length}`,
    isMet: median(seconds) <= most,
  }
}

/** In a session of its own, of which nothing stays. */
function runScript(args: string[], env: Record<string, string> = {}) {
  const child = spawn('npm', ['run', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  return {
    ended,
    async prints(pattern: RegExp): Promise<void> {
      for (;;) {
        const [text] = await Promise.race([
          once(child.stdout, 'data'),
          ended.then(() => Promise.reject(new Error(`npm run ${args.join(' ')} ended`))),
        ])
        if (pattern.test(String(text))) return
      }
    },
    async end(): Promise<void> {
      if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGTERM')
      await ended
    },
  }
}

/** After the start, beside the sources as they are, whose size was that of the service before there was a bundle. */
async function compareMemory(name: string, options: VersionOptions): Promise<Result> {
  const bundled = await measureMegabytes(options)
  const sources = await measureMegabytes({ ...options, env: { ...options.env, LATCHKEY_BUNDLE: 'off' } })
  return {
    claim: `${name}: the bundle takes no more memory after the start than the sources`,
    measured: `${bundled.toFixed(0)} MB; the sources ${sources.toFixed(0)} MB`,
    isMet: bundled <= sources,
  }
}

async function measureMegabytes(options: VersionOptions): Promise<number> {
  const server = await startVersion(options)
  await sleep(settleMs)
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  await server.stop()
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
