/** A run ends with a table of the processor time that test files took: the slowest ones, or all with TEST_TIMES=1. */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf } from './process-tree.ts'

const shown = process.env.TEST_TIMES === '1' ? Number.POSITIVE_INFINITY : 15
/** Begins the names of the tests that record it. */
export const recorderPrefix = 'CPU time of '

/** Before the first run in a clone. */
export const installationName = '(installation)'

/** Imported after a test file, it records what the process has used since the last such import. */
const recorder = new URL('./record-cpu-time.ts', import.meta.url)

export function recorderFor(name: string): string {
  const url = new URL(recorder)
  url.searchParams.set('name', name)
  return url.href
}

/** Linux counts in hundredths of a second. */
const ticksPerSecond = 100

/** Of a process and of all that it has started. */
export function cpuSecondsOf(pid: number): number {
  return ownSecondsOf(pid) + childrenOf(pid).reduce((sum, child) => sum + cpuSecondsOf(child), 0)
}

/** Of a process and its children that have ended. */
function ownSecondsOf(pid: number): number {
  // The name of the program, in parentheses, may have spaces.
  const fields = readStat(pid).split(') ')[1]?.split(' ') ?? []
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return ticks / ticksPerSecond
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It has just ended.
    return ''
  }
}

export function recordTime(folder: string, name: string, seconds: number): void {
  appendFileSync(join(folder, 'times'), `${JSON.stringify([name, seconds])}\n`)
}

/** The servers of the run, which all tests use. */
export function recordDaemons(folder: string): void {
  const pids = readdirSync(folder).flatMap((name) => (name.endsWith('.pid') ? [Number.parseInt(name, 10)] : []))
  recordTime(
    folder,
    '(servers)',
    pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
  )
}

/** A table, the longest first, and their sum without the installation, which later runs do not have. */
export function describeTimes(folder: string): { table: string; total: number } {
  const lines = readFileSync(join(folder, 'times'), 'utf8').trim().split('\n')
  const times: [name: string, seconds: number][] = lines.map((line) => JSON.parse(line))
  const total = times.reduce((sum, [name, seconds]) => (name === installationName ? sum : sum + seconds), 0)
  const slowest = times.sort(([, one], [, other]) => other - one).slice(0, shown)
  const table = [...slowest, [`all but ${installationName}`, total] as const]
    .map(([name, seconds]) => `${seconds.toFixed(1).padStart(8)}  ${name}\n`)
    .join('')
  return { table, total }
}
