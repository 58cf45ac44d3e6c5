/** Resident memory by the number of threads: after the start, under mixed load, after thousands of sockets came and went. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../src/config/root.ts'
import { body } from './product-creates.ts'
import type { Benchmark, Result } from './support/benchmark.ts'
import { fill } from './support/dataset.ts'
import { openSubscribers } from './support/fan-out.ts'
import { type BenchServer, measureLoad } from './support/load.ts'
import { person, signIn } from './support/people.ts'
import { startVersion } from './support/versions.ts'

const counts = [1, 2, 3]
const products = 1000
const requests = 1_000_000
const sockets = 2000
const max = { start: 150, load: 250, further: 70 }

/** In megabytes. */
interface Measured {
  threads: number
  start: number
  /** The largest of those after each part of the load. */
  load: number
  sockets: number
  p99Ms: number
}

export const memory: Benchmark = async () => {
  // As in the image: sources that are loaded late are in the compile cache too.
  execFileSync(process.execPath, [join(root, 'deploy/image/compile-sources.ts')])
  const all: Measured[] = []
  for (const threads of counts) all.push(await measure(threads))
  return all.flatMap((each, i) => judge(each, all[i - 1]))
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
    await sleep(2000)
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

async function keepBusy(server: BenchServer): Promise<{ load: number; p99Ms: number }> {
  const env = {
    TOKEN: await signIn(server.url),
    CREATE: body,
    LOGIN: JSON.stringify(person),
    QUERY: JSON.stringify({ query: '{ products(perPage: 20) { data { id name price } } }' }),
  }
  const script = join(import.meta.dirname, 'support', 'mixed.lua')
  let [done, load, p99Ms] = [0, 0, 0]
  while (done < requests) {
    const measured = measureLoad(server.url, { connections: 64, seconds: 5, script, env, cores: '0-1' })
    done += measured.requests
    load = Math.max(load, residentMegabytes(server))
    p99Ms = measured.p99Ms
    process.stderr.write(
      `\r  ${done.toLocaleString('en')} of ${requests.toLocaleString('en')} requests, ${load.toFixed(0)} MB `,
    )
  }
  process.stderr.write('\r\u001b[K')
  return { load, p99Ms }
}

function residentMegabytes({ pid }: BenchServer): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
