/**
 * Jobs: work that features do at certain times. Of several nodes one does each, under a lease in the database. A job whose time
 * came while no node ran is done at the next start, once.
 */
import type { Clock } from '../../core/clock.ts'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { pause, waitAtMost } from '../../core/pause.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import { hyphenatedName } from '../../core/text.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Log } from '../log/logger.ts'
import { createJobStore, type JobStore, type NewJob } from './jobs.store.ts'

export interface JobContext<Service> {
  /** What the feature's `create` returned. */
  service: Service
  infrastructure: Infrastructure
  /** Aborted when the service stops, or when another node has taken over. */
  signal: AbortSignal
}

/** `at` is a time of day in UTC, such as `03:00`; `every` a time such as `30s`, `10m`, `2h` or `1d`. */
export type Job<Service = unknown> = ({ at: string; every?: never } | { every: string; at?: never }) & {
  run(context: JobContext<Service>): unknown
}

export interface Schedule {
  /** As it is shown: `daily at 03:00 UTC` or `every 10m`. */
  text: string
  /** When it is due after a run that was due or began then, in Unix seconds. */
  next(after: number): number
}

export interface ScheduledJob {
  name: string
  schedule: Schedule
  run(signal: AbortSignal): unknown
}

const daySeconds = 86_400
const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: daySeconds }
const maxSeconds = 366 * daySeconds

const maxName = 60

/** Throws a FatalError that names the feature. */
export function readSchedule(feature: string, name: string, { at, every, run }: Job): Schedule {
  const fail = (reason: string) =>
    new FatalError(`feature ${feature}: the job "${name}" ${reason}`, exitCodes.configuration)
  if (!hyphenatedName.test(name) || name.length > maxName) {
    throw fail(`has a name that is not made of lower-case words with hyphens, or has more than ${maxName} characters`)
  }
  if (typeof run !== 'function') throw fail('has no function `run`')
  if ((at === undefined) === (every === undefined)) throw fail('must have either `at` or `every`')
  if (every !== undefined) {
    const match = /^(\d{1,8})([smhd])$/.exec(every)
    const seconds = Number(match?.[1]) * (unitSeconds[match?.[2] ?? ''] ?? Number.NaN)
    if (!(seconds >= 1 && seconds <= maxSeconds))
      throw fail('has an `every` that is no time such as 30s, 10m, 2h or 1d')
    return { text: `every ${every}`, next: (after) => after + seconds }
  }
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(at ?? '')
  if (!match) throw fail('has an `at` that is no time of day such as 03:00')
  const ofDay = Number(match[1]) * 3600 + Number(match[2]) * 60
  const next = (after: number) => {
    const today = after - (after % daySeconds) + ofDay
    return today > after ? today : today + daySeconds
  }
  return { text: `daily at ${at} UTC`, next }
}

const lookEveryMs = 1000
/** If a lease could not be renewed for `validMs`, it counts as lost: shortly before another node may take the job. */
const usualLease = { seconds: 60, renewEveryMs: 15_000, validMs: 50_000 }
/** A job that no node has known for so long is forgotten. */
const keptSeconds = 7 * daySeconds
const registerEverySeconds = 3600
const firstRetrySeconds = 60
const maxRetrySeconds = 3600
/** One that goes on is done again elsewhere. */
const maxStopMs = 5000
const maxErrorCharacters = 2000

export interface JobsOptions {
  jobs: readonly ScheduledJob[]
  store: JobStore
  clock: Clock
  log: Log
  /** Unique for each start of a node. */
  holder: string
  leaseTimes?: typeof usualLease
  /** Called after each run. */
  onRun?(name: string, error: unknown): void
}

interface EndedRun {
  startedAt: number
  failure: unknown
  lost: AbortSignal
}

/** Runs them until it is closed. */
export function startJobs(options: JobsOptions): { close(): Promise<void> } {
  const { jobs, store, clock, log, holder, onRun, leaseTimes = usualLease } = options
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const running = new Map<string, Promise<void>>()
  const closing = new AbortController()
  let registeredAt = Number.NEGATIVE_INFINITY
  let isRegistered = false

  async function look(): Promise<void> {
    const now = clock.nowSeconds()
    if (registeredAt + registerEverySeconds <= now) await register(now)
    const rows = await store.list()
    for (const { name, due_at } of rows) {
      const job = byName.get(name)
      if (!job || due_at > now || running.has(name) || closing.signal.aborted) continue
      const work = runIfFree(job)
        .catch(logFailure)
        .finally(() => running.delete(name))
      running.set(name, work)
    }
  }

  async function register(now: number): Promise<void> {
    const declared = jobs.map(({ name, schedule }): NewJob => {
      return { name, schedule: schedule.text, due_at: schedule.next(now) }
    })
    // Only once: during an upgrade, nodes with another schedule would take turns in putting a job off.
    await store.register(declared, { expiresAt: now + keptSeconds, keepsSchedules: isRegistered })
    isRegistered = true
    registeredAt = now
  }

  async function runIfFree(job: ScheduledJob): Promise<void> {
    const { name } = job
    const startedAt = clock.nowSeconds()
    const lease = holdLease(name)
    try {
      if (!(await store.claim(name, holder, { now: startedAt, until: startedAt + leaseTimes.seconds }))) return
      const signal = AbortSignal.any([closing.signal, lease.lost])
      const failure = await attempt(job, signal)
      // Whatever it threw, it was interrupted.
      if (failure !== undefined && signal.aborted) await store.giveUp(name, holder)
      else await settle(job, { startedAt, failure, lost: lease.lost })
    } finally {
      lease.close()
    }
  }

  async function attempt(job: ScheduledJob, signal: AbortSignal): Promise<unknown> {
    try {
      await job.run(signal)
      return undefined
    } catch (error) {
      return error ?? new Error('failed without an error')
    }
  }

  async function settle({ name, schedule }: ScheduledJob, { startedAt, failure, lost }: EndedRun): Promise<void> {
    const now = clock.nowSeconds()
    const error = failure === undefined ? null : describeFailure(failure)
    if (error === null) log.info({ job: name, seconds: now - startedAt }, 'a job is done')
    else log.error({ err: failure, job: name }, 'a job failed; it is tried again')
    onRun?.(name, failure)
    // Runs that were missed meanwhile are not made up for.
    const next = Math.max(schedule.next(startedAt), now)
    await untilStored(lost, async () => {
      const retryAt = error === null ? next : now + retrySecondsAfter(await failuresOf(name))
      await store.finish(name, holder, { now, dueAt: Math.min(next, retryAt), error })
    })
  }

  /** What has been done is not done again because the database was away for a moment: as long as the lease is held. */
  async function untilStored(lost: AbortSignal, finish: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await finish()
      } catch (error) {
        if (lost.aborted || closing.signal.aborted) throw error
        logFailure(error)
        await pause(lookEveryMs, AbortSignal.any([lost, closing.signal]))
      }
    }
  }

  /** Renews the lease until it is closed or lost. */
  function holdLease(name: string) {
    const lost = new AbortController()
    const lose = () => lost.abort(new Error('another node may have taken the job'))
    // Not by a query, which may hang as well.
    let expiry = setTimeout(lose, leaseTimes.validMs).unref()
    const renewing = startPeriodicTask({
      everyMs: leaseTimes.renewEveryMs,
      async work() {
        const askedAt = performance.now()
        if (!(await store.renew(name, holder, clock.nowSeconds() + leaseTimes.seconds))) return lose()
        clearTimeout(expiry)
        expiry = setTimeout(lose, leaseTimes.validMs - (performance.now() - askedAt)).unref()
      },
      onError: (err) => log.warn({ err, job: name }, 'the lease of a job could not be renewed; trying again'),
    })
    return {
      lost: lost.signal,
      close() {
        clearTimeout(expiry)
        // Without waiting: one that is under way renews nothing after the end of the run.
        void renewing.close()
      },
    }
  }

  async function failuresOf(name: string): Promise<number> {
    return (await store.list()).find((row) => row.name === name)?.failures ?? 0
  }

  function logFailure(err: unknown): void {
    if (!closing.signal.aborted) log.warn({ err }, 'jobs could not be looked after; trying again shortly')
  }

  const looking = startPeriodicTask({ everyMs: lookEveryMs, work: look, onError: logFailure })
  return {
    async close() {
      closing.abort()
      await looking.close()
      await waitAtMost(maxStopMs, Promise.all(running.values()))
    },
  }
}

/** Something to store, whatever was thrown. */
function describeFailure(error: unknown): string {
  try {
    return errorMessage(error).replaceAll('\0', '').slice(0, maxErrorCharacters).toWellFormed()
  } catch {
    return 'failed with something that is no error'
  }
}

function retrySecondsAfter(failures: number): number {
  return Math.min(firstRetrySeconds * 2 ** Math.min(failures, 10), maxRetrySeconds)
}

/** Starts the jobs of features, and counts their runs. */
export function startJobsOfFeatures(
  { db, clock, log, random, metrics }: Infrastructure,
  jobs: readonly ScheduledJob[],
): { close(): Promise<void> } {
  if (jobs.length === 0) return { close: async () => {} }
  const store = createJobStore(db)
  const label = { name: 'name', values: jobs.map(({ name }) => name) }
  const countRun = metrics?.addCounter({ name: 'job_runs_total', help: 'Runs of jobs on this node.', label })
  const countFailure = metrics?.addCounter({
    name: 'job_failures_total',
    help: 'Failed runs of jobs on this node.',
    label,
  })
  metrics?.addGauge({
    name: 'job_last_success_seconds',
    help: 'When a job last succeeded on any node, in Unix seconds. Absent if it never did.',
    label: 'name',
    aggregator: 'max',
    async read() {
      const rows = await store.list()
      return Object.fromEntries(
        rows.flatMap(({ name, succeeded_at }) => (succeeded_at === null ? [] : [[name, succeeded_at]])),
      )
    },
  })
  return startJobs({
    jobs,
    store,
    clock,
    log,
    holder: random.id(),
    onRun(name, error) {
      countRun?.(name)
      if (error !== undefined) countFailure?.(name)
    },
  })
}
