/**
 * Shares the event loop among client addresses. What clients bring about (handling their messages, delivering values to
 * their subscriptions) is cut into jobs; each address has a line of its own, and turns are taken between the lines. After
 * 5 ms of jobs the event loop goes on with everything else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface FairTurnsOptions {
  /** Is told of what a job throws. */
  onError(error: unknown): void
}

export interface FairTurns {
  /** Runs the job, now or when its turn comes, in order within the line. Returns false where the line is full. */
  run(line: string, job: () => void): boolean
  /** Whether the present turn of the event loop has had its share of jobs. */
  isOver(): boolean
  /** Resolves when it is the line's turn. */
  wait(line: string): Promise<void>
}

const maxMs = 5

/** Run without waiting in each turn of the event loop. Few: what they set going is not measured yet when the next comes. */
const maxAtOnce = 8

/** Waiting jobs of one line. Beyond it the address does not keep up with what it has asked for. */
const maxWaiting = 100_000

export function createFairTurns({ onError }: FairTurnsOptions): FairTurns {
  /** Those with waiting jobs. The next one to take its turn is the first. */
  const lines = new Map<string, Line>()
  let startedAt: number | undefined
  let atOnce = 0
  let isDraining = false

  function isOver(): boolean {
    const now = performance.now()
    if (startedAt === undefined) {
      startedAt = now
      atOnce = 0
      setImmediate(endTurn)
    }
    return now - startedAt >= maxMs
  }

  function endTurn(): void {
    startedAt = undefined
    if (lines.size > 0 && !isDraining) void drain()
  }

  async function drain(): Promise<void> {
    isDraining = true
    while (lines.size > 0) {
      if (isOver()) await nextTurn()
      else {
        runSafely(takeNext())
        // What the job has set going takes place, and is measured, before the next job begins.
        await undefined
      }
    }
    isDraining = false
  }

  function takeNext(): () => void {
    const [[key, line]] = lines as unknown as [[string, Line]]
    const job = line.take()
    lines.delete(key)
    if (line.length > 0) lines.set(key, line)
    return job
  }

  function runSafely(job: () => void): void {
    try {
      job()
    } catch (error) {
      onError(error)
    }
  }

  function run(key: string, job: () => void): boolean {
    const isFull = isOver() || lines.size > 0 || atOnce >= maxAtOnce
    if (!isFull) {
      atOnce += 1
      runSafely(job)
      return true
    }
    const line = lines.get(key) ?? new Line()
    if (line.length >= maxWaiting) return false
    line.add(job)
    lines.set(key, line)
    return true
  }

  return {
    run,
    isOver,
    async wait(line) {
      await new Promise<void>((resolve) => {
        // Where the line is full, the wait for the next turn at least lets everything else go on.
        if (!run(line, resolve)) setImmediate(resolve)
      })
    },
  }
}

/** First in, first out, without moving what is left at every step. */
class Line {
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
