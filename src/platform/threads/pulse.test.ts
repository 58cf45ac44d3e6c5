import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beatMs, createPulse, createStallMeter, type ThreadUsage } from './pulse.ts'

/** A thread that beats when told, and uses the processor as told. */
function createThread() {
  const pulse = createPulse()
  const usage: ThreadUsage = { isRunnable: true, cpuMs: 0 }
  const meter = createStallMeter(pulse, () => ({ ...usage }))
  const beat = () => Atomics.add(new Int32Array(pulse), 0, 1)
  /** Lets seconds pass, during which the thread has a share of a processor. */
  function pass(seconds: number, share: number) {
    let stall = { silentMs: 0, stalledMs: 0 }
    for (let ms = 0; ms < seconds * 1000; ms += beatMs) {
      usage.cpuMs += share * beatMs
      stall = meter.measure(beatMs)
    }
    return stall
  }
  return { beat, meter, pass, usage }
}

test('a thread that spins is stalled for as long as it has had a processor', () => {
  const { beat, pass } = createThread()
  beat()
  assert.equal(pass(10, 1).silentMs, 9750)
  assert.ok(pass(1, 1).stalledMs > 9000)
})

test('a thread that waits for a processor on a busy machine is not stalled, however long that takes', () => {
  const { beat, pass } = createThread()
  beat()
  const { silentMs, stalledMs } = pass(60, 0)
  assert.ok(silentMs > 59_000)
  assert.ok(stalledMs <= 2 * beatMs)
})

test('a thread that is blocked in a system call is stalled without using a processor', () => {
  const { beat, pass, usage } = createThread()
  beat()
  usage.isRunnable = false
  assert.ok(pass(10, 0).stalledMs > 9000)
})

test('a machine that was suspended, or whose clock jumps, stalls nobody', () => {
  const { beat, meter } = createThread()
  beat()
  meter.measure(beatMs)
  assert.ok(meter.measure(3_600_000).stalledMs <= 2 * beatMs)
  beat()
  assert.deepEqual(meter.measure(beatMs), { silentMs: 0, stalledMs: 0 })
})

test('a thread that has not begun to serve is not measured', () => {
  const { pass } = createThread()
  assert.deepEqual(pass(60, 1), { silentMs: 0, stalledMs: 0 })
})
