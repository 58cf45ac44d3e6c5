/**
 * Mixed load on one node for an hour, with sessions, sockets of both protocols and event streams that come and go: its memory
 * must not grow. Prints the resident size, the memory outside of the heaps and the heaps each minute, and fails if the median
 * of the last quarter is more than 10 % above that of the second, for the resident size or for the memory outside of the heaps
 * (of which 8 MB more are no growth): npm run torture growth.
 *
 * MINUTES (60), WORKERS (4), SOCKETS (20) and READERS (10) of event streams change the load, THREADS (1) is passed on.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/servers.ts'
import type { Torture } from './main.ts'
import { startEventStreams } from './support/event-streams.ts'
import { type Counts, startLoad } from './support/mixed-load.ts'
import { createServiceProcess, serviceEnvironment } from './support/service-process.ts'

const minutes = Number(process.env.MINUTES ?? 60)
const workers = Number(process.env.WORKERS ?? 4)
const sockets = Number(process.env.SOCKETS ?? 20)
const readers = Number(process.env.READERS ?? 10)
const samplesPerMinute = 12
const maxGrowth = 1.1
/** So small that a garbage collection more or less makes a tenth. */
const externalNoise = 8
const metricsToken = 'a token that only the tests use'
const megabyte = 1024 ** 2

export const torture: Torture = async ({ folder }) => {
  const file = join(folder, 'latchkey.db')
  const settings = serviceEnvironment({ threads: 1 })
  const env = {
    ...settings,
    PORT: String(await freePort()),
    DATABASE_URL: `file:${file}`,
    METRICS_TOKEN: metricsToken,
  }
  const service = createServiceProcess({ name: 'service', env, folder, log: join(folder, 'service.log') })
  await service.start()
  const pid = service.pid() as number
  say(
    `${minutes} minutes, ${workers} workers of each kind, ${sockets} sockets, ${readers} readers, ${settings.THREADS} threads`,
  )
  say(`after the start: ${describe(await memoryOf(pid, service.url))}`)
  const load = await startLoad({ url: service.url, workers, sockets, isSteady: true })
  const streams = startEventStreams({ url: service.url, readers })
  const samples: Memory[] = []
  let requests = 0
  for (let sample = 1; sample <= minutes * samplesPerMinute; sample++) {
    await sleep(60_000 / samplesPerMinute)
    const memory = await memoryOf(pid, service.url)
    samples.push(memory)
    if (sample % samplesPerMinute !== 0) continue
    await removeWhatIsOver(file)
    requests += countOf(load.take())
    const latest = samples.slice(-samplesPerMinute)
    const resident = medianOf(latest.map((each) => each.resident)).toFixed(0)
    const minute = String(sample / samplesPerMinute).padStart(3)
    const counts = `${requests} requests, ${streams.opened()} event streams`
    say(`${minute} min: ${counts}, median ${resident} MB, now ${describe(memory)}`)
  }
  await streams.stop()
  await load.stop()
  await service.stop('SIGTERM')
  const surprises = [...load.surprises, ...streams.surprises]
  if (surprises.length > 0) throw new Error(`unexpected answers: ${surprises.join('\n').slice(0, 2000)}`)
  if (readers > 0 && streams.opened() === 0) throw new Error('no event stream was opened')
  judge('the resident size', { values: samples.map(({ resident }) => resident), noise: 0 })
  judge('the memory outside of the heaps', { values: samples.map(({ external }) => external), noise: externalNoise })
}

/** The first quarter is for caches to fill. */
function judge(what: string, { values, noise }: { values: readonly number[]; noise: number }): void {
  const [first = 0, second = 0, third = 0, last = 0] = [0, 1, 2, 3].map((nth) =>
    medianOf(values.slice(Math.floor((values.length * nth) / 4), Math.floor((values.length * (nth + 1)) / 4))),
  )
  const growth = last / second
  const medians = [first, second, third, last].map((median) => median.toFixed(0)).join(', ')
  say(`${what}: medians of the quarters ${medians} MB; the last is ${growth.toFixed(3)} of the second`)
  if (growth > maxGrowth && last - second > noise) throw new Error(`${what} grew to ${growth.toFixed(3)} times`)
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** In megabytes. */
interface Memory {
  resident: number
  anonymous: number
  /** Of buffers and other objects, outside of the heaps of the serving threads. */
  external: number
  heaps: readonly string[]
}

async function memoryOf(pid: number, url: string): Promise<Memory> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(status.split(`${name}:`)[1]?.trim().split(' ')[0]) / 1024
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  const page = await response.text()
  const [, external] = /^nodejs_external_memory_bytes (\S+)$/m.exec(page) ?? []
  if (external === undefined) throw new Error(`/metrics has no external memory: ${page.slice(0, 200)}`)
  const heaps = [...page.matchAll(/^thread_heap_used_bytes\{thread="([^"]+)"\} (\S+)$/gm)]
  return {
    resident: of('VmRSS'),
    anonymous: of('RssAnon'),
    external: Number(external) / megabyte,
    heaps: heaps.map(([, thread, bytes]) => `${thread} ${(Number(bytes) / megabyte).toFixed(0)}`),
  }
}

function describe({ resident, anonymous, external, heaps }: Memory): string {
  const [whole, alone, outside] = [resident, anonymous, external].map((each) => each.toFixed(0))
  return `${whole} MB (${alone} anonymous), outside of the heaps ${outside}, heaps: ${heaps.join(', ')}`
}

function countOf(counts: Counts): number {
  return [...counts.values()].flatMap((outcomes) => [...outcomes.values()]).reduce((sum, n) => sum + n, 0)
}

const rowsAtOnce = 200

/** The service keeps deleted products, and the audit trail for a year: the file would grow with the load. */
async function removeWhatIsOver(file: string): Promise<void> {
  const db = new DatabaseSync(file, { timeout: 5000 })
  const over = { products: 'deleted_at IS NOT NULL', audit: 'id < (SELECT max(id) FROM audit) - 10000' }
  try {
    for (const [table, isOver] of Object.entries(over)) {
      // A few at a time, so that the writes of the service do not wait.
      const remove = db.prepare(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${isOver} ORDER BY id LIMIT ${rowsAtOnce})`,
      )
      while (Number(remove.run().changes) > 0) await sleep(5)
    }
  } finally {
    db.close()
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
