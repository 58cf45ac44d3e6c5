/**
 * Mixed load on one node for an hour: its memory must not grow. Prints the resident size and the heaps each minute, and
 * fails if the median of the last quarter is more than 10 % above that of the second: npm run torture growth.
 *
 * MINUTES (60), WORKERS (4) and SOCKETS (20) change the load, THREADS (1) is passed on.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/servers.ts'
import type { Torture } from './main.ts'
import { type Counts, startLoad } from './support/mixed-load.ts'
import { createServiceProcess, serviceEnvironment } from './support/service-process.ts'

const minutes = Number(process.env.MINUTES ?? 60)
const workers = Number(process.env.WORKERS ?? 4)
const sockets = Number(process.env.SOCKETS ?? 20)
const samplesPerMinute = 12
const maxGrowth = 1.1
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
  say(`${minutes} minutes, ${workers} workers of each kind, ${sockets} sockets, ${settings.THREADS} threads`)
  say(`after the start: ${await describe(pid, service.url)}`)
  const load = await startLoad({ url: service.url, workers, sockets, isSteady: true })
  const residents: number[] = []
  let requests = 0
  for (let sample = 1; sample <= minutes * samplesPerMinute; sample++) {
    await sleep(60_000 / samplesPerMinute)
    residents.push(memoryOf(pid).resident)
    if (sample % samplesPerMinute !== 0) continue
    await removeWhatIsOver(file)
    requests += countOf(load.take())
    const median = medianOf(residents.slice(-samplesPerMinute)).toFixed(0)
    const minute = String(sample / samplesPerMinute).padStart(3)
    say(`${minute} min: ${requests} requests, median ${median} MB, now ${await describe(pid, service.url)}`)
  }
  await load.stop()
  await service.stop('SIGTERM')
  if (load.surprises.length > 0) throw new Error(`unexpected answers: ${load.surprises.join('\n').slice(0, 2000)}`)
  judge(residents)
}

/** The first quarter is for caches to fill. */
function judge(residents: readonly number[]): void {
  const quarter = (nth: number) =>
    medianOf(residents.slice(Math.floor((residents.length * nth) / 4), Math.floor((residents.length * (nth + 1)) / 4)))
  const growth = quarter(3) / quarter(1)
  const medians = [0, 1, 2, 3].map((nth) => quarter(nth).toFixed(0)).join(', ')
  say(`medians of the quarters: ${medians} MB; the last is ${growth.toFixed(3)} of the second`)
  if (growth > maxGrowth) throw new Error(`the resident size grew to ${growth.toFixed(3)} times`)
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** In megabytes. */
function memoryOf(pid: number): { resident: number; anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(status.split(`${name}:`)[1]?.trim().split(' ')[0]) / 1024
  return { resident: of('VmRSS'), anonymous: of('RssAnon') }
}

async function describe(pid: number, url: string): Promise<string> {
  const { resident, anonymous } = memoryOf(pid)
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  const heaps = [...(await response.text()).matchAll(/^thread_heap_used_bytes\{thread="([^"]+)"\} (\S+)$/gm)]
  const shown = heaps.map(([, thread, bytes]) => `${thread} ${(Number(bytes) / megabyte).toFixed(0)}`)
  return `${resident.toFixed(0)} MB (${anonymous.toFixed(0)} anonymous), heaps: ${shown.join(', ')}`
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
