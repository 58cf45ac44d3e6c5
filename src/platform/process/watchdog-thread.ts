/** The thread of `watchdog.ts`. The log belongs to the thread that does not respond, so it writes its lines itself. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.ts'
import { createStallMeter, type Pulse, startTicking } from '../threads/pulse.ts'
import { sampleMainThread } from '../threads/stack-sample.ts'
import { killProcess } from './kill-process.ts'

export interface WatchdogData {
  pulse: Pulse
  unresponsiveSeconds: number
}

const { pulse, unresponsiveSeconds } = workerData as WatchdogData
const limitMs = unresponsiveSeconds * 1000
const meter = createStallMeter(pulse)
/** In a worker, `process.stdout` passes through the main thread. */
const standardOutput = 1
let stalledMs = 0
let hasReported = false
let isEnding = false

const ticking = startTicking((elapsedMs) => {
  stalledMs = meter.measure(elapsedMs).stalledMs
  if (stalledMs === 0) hasReported = false
  else if (stalledMs >= limitMs && !isEnding) void end()
  else if (stalledMs >= limitMs / 2 && !hasReported) {
    hasReported = true
    void report('warn', 'the main thread does not respond')
  }
})
ticking.ref()

async function end(): Promise<void> {
  isEnding = true
  await report('fatal', 'the main thread does not respond, stopping')
  if (stalledMs >= limitMs) killProcess()
  isEnding = false
}

async function report(level: string, msg: string): Promise<void> {
  const unresponsiveMs = Math.round(stalledMs)
  const sample = (await sampleMainThread()) ?? { stack: 'blocked outside of JavaScript' }
  const line = { level, time: systemClock.nowIso(), thread: 'main', unresponsiveMs, ...sample, msg }
  try {
    writeSync(standardOutput, `${JSON.stringify(line)}\n`)
  } catch {
    // A full pipe whose reader is stuck too.
  }
}
