/**
 * Shares the event loop fairly among client addresses. Work for clients (handling messages, delivering values of
 * subscriptions) is split into jobs, with one queue per address, served round-robin. After 5 ms of jobs, yields with
 * setImmediate.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

export interface FairSchedulerOptions {
  /** Called with errors thrown by jobs. */
  onError(error: unknown): void
}

export interface FairScheduler {
  /** Runs the job now or later, in order within its queue. Returns false if the queue is full. */
  run(queueKey: string, job: () => void): boolean
  /** Whether the time budget of the current tick of the event loop is used up. */
  isBudgetSpent(): boolean
  /** Resolves like a job of the queue. */
  wait(queueKey: string): Promise<void>
}

const maxMs = 5

/** Jobs that run immediately in each tick. Few: the microtasks they start are not measured before the next job. */
const maxAtOnce = 8

/** Per queue. Beyond it the address does not keep up with its own subscriptions. */
const maxWaiting = 100_000

export function createFairScheduler({ onError }: FairSchedulerOptions): FairScheduler {
  /** Non-empty queues, in the order in which they are served. */
  const queues = new Map<string, JobQueue>()
  let startedAt: number | undefined
  let atOnce = 0
  let isDraining = false

  function isBudgetSpent(): boolean {
    const now = performance.now()
    if (startedAt === undefined) {
      startedAt = now
      atOnce = 0
      setImmediate(endTick)
    }
    return now - startedAt >= maxMs
  }

  function endTick(): void {
    startedAt = undefined
    if (queues.size > 0 && !isDraining) void drain()
  }

  async function drain(): Promise<void> {
    isDraining = true
    while (queues.size > 0) {
      if (isBudgetSpent()) await yieldToEventLoop()
      else {
        runSafely(takeNext())
        // Microtasks started by the job run, and are measured, before the next job.
        await undefined
      }
    }
    isDraining = false
  }

  function takeNext(): () => void {
    const [[key, queue]] = queues as unknown as [[string, JobQueue]]
    const job = queue.take()
    queues.delete(key)
    if (queue.length > 0) queues.set(key, queue)
    return job
  }

  function runSafely(job: () => void): void {
    try {
      job()
    } catch (error) {
      onError(error)
    }
  }

  function run(queueKey: string, job: () => void): boolean {
    const isFull = isBudgetSpent() || queues.size > 0 || atOnce >= maxAtOnce
    if (!isFull) {
      atOnce += 1
      runSafely(job)
      return true
    }
    const queue = queues.get(queueKey) ?? new JobQueue()
    if (queue.length >= maxWaiting) return false
    queue.add(job)
    queues.set(queueKey, queue)
    return true
  }

  return {
    run,
    isBudgetSpent,
    async wait(queueKey) {
      await new Promise<void>((resolve) => {
        // If the queue is full, at least yield to the event loop.
        if (!run(queueKey, resolve)) setImmediate(resolve)
      })
    },
  }
}

/** FIFO with amortised constant-time take. */
class JobQueue {
  #jobs: (() => void)[] = []
  #taken = 0

  get length(): number {
    return this.#jobs.length - this.#taken
  }

  add(job: () => void): void {
    this.#jobs.push(job)
  }

  take(): () => void {
    const job = this.#jobs[this.#taken++] as () => void
    if (this.#taken * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#taken)
      this.#taken = 0
    }
    return job
  }
}
