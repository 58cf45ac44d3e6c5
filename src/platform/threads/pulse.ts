/**
 * Whether the event loop of a thread still turns, as another thread sees it. Each thread counts in shared memory, which
 * costs nothing per request, and a watcher measures how long the count has not moved.
 *
 * Only time that the thread could have used counts. A busy machine may not give it a processor for seconds, and a machine
 * that was suspended seems to jump in time; neither is a reason to replace a thread.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** Two integers: how often the event loop has turned, and the thread's id at the operating system. */
export type Pulse = SharedArrayBuffer

export const beatMs = 250
/** A thread is late when its event loop has not turned for so long. */
export const lateMs = 3 * beatMs

const beats = 0
const systemThread = 1

export function createPulse(): Pulse {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
}

/** Call when the thread serves: a start takes long without being stuck. */
export function startBeating(pulse: Pulse): { stop(): void } {
  const cells = new Int32Array(pulse)
  Atomics.store(cells, systemThread, readSystemThread())
  Atomics.add(cells, beats, 1)
  const timer = setInterval(() => Atomics.add(cells, beats, 1), beatMs).unref()
  return { stop: () => clearInterval(timer) }
}

export interface ThreadUsage {
  /** Runs or waits for a processor; otherwise the thread sleeps, in a system call. */
  isRunnable: boolean
  cpuMs: number
}

/** Both are 0 while the event loop turns, or has not begun to. */
export interface Stall {
  /** Since it last turned. */
  silentMs: number
  /** The part of that in which the thread had a processor, or slept. */
  stalledMs: number
}

export interface StallMeter {
  /** Call every `beatMs`. */
  measure(elapsedMs: number): Stall
}

export function createStallMeter(pulse: Pulse, readUsage = readThreadUsage): StallMeter {
  const cells = new Int32Array(pulse)
  let seen = 0
  let silentMs = 0
  let stalledMs = 0
  let before: ThreadUsage | undefined

  /** The part of `elapsedMs` in which the thread could have turned its event loop. */
  function countedOf(plausibleMs: number): number {
    // A beat is missing only after that.
    if (stalledMs < beatMs) return Math.min(plausibleMs, beatMs)
    const usage = readUsage(Atomics.load(cells, systemThread))
    const usedMs = usage && (before ? usage.cpuMs - before.cpuMs : 0)
    before = usage
    return usage?.isRunnable && usedMs !== undefined ? Math.min(plausibleMs, usedMs) : plausibleMs
  }

  return {
    measure(elapsedMs) {
      const now = Atomics.load(cells, beats)
      if (now === seen) {
        // The watcher may have been late itself.
        const plausibleMs = Math.min(elapsedMs, 2 * beatMs)
        if (seen !== 0) {
          silentMs += plausibleMs
          stalledMs += countedOf(plausibleMs)
        }
      } else {
        seen = now
        before = undefined
        silentMs = 0
        stalledMs = 0
      }
      return { silentMs, stalledMs }
    },
  }
}

/** Calls `tick` every `beatMs`, with the time since the last call. */
export function startTicking(tick: (elapsedMs: number) => void): { stop(): void; ref(): void } {
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    tick(now - last)
    last = now
  }, beatMs).unref()
  return { stop: () => clearInterval(timer), ref: () => void timer.ref() }
}

/** 0 where the system does not tell. */
function readSystemThread(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}

/** The kernel counts in these, whatever its own clock is. */
const ticksPerSecond = 100

/** Undefined where the system does not tell. */
function readThreadUsage(thread: number): ThreadUsage | undefined {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1')
    // See proc_pid_stat(5). The name of the thread comes before, in parentheses.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user, system] = [fields[10], fields[11]].map(Number) as [number, number]
    return { isRunnable: state === 'R', cpuMs: ((user + system) * 1000) / ticksPerSecond }
  } catch {
    return undefined
  }
}
