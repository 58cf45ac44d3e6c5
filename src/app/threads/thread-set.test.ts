import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../../../test/support/eventually.ts'
import type { ServingThread } from './supervised-thread.ts'
import { createThreadSet } from './thread-set.ts'

const at = { port: 1, wsPort: 2, isShared: true }

const responding: Omit<ServingThread, 'open' | 'listen' | 'call' | 'tell' | 'onDeath' | 'close' | 'terminate'> = {
  label: 'worker-1',
  descriptors: () => undefined,
  measure() {},
  stalledMs: () => 0,
  isLate: () => false,
  sample: async () => undefined,
  kill() {},
}

/** Threads that only note what they are told. Those from the third on open when `openLater` is called. */
function createFakes() {
  const calls: string[] = []
  const die: (() => void)[] = []
  const later = Promise.withResolvers<void>()
  let started = 0
  const start = (): ServingThread => {
    const id = started
    started += 1
    const note = (name: string) => void calls.push(`${id} ${name}`)
    return {
      ...responding,
      listen: (async () => note('listen')) as unknown as ServingThread['listen'],
      open: async () => {
        if (id > 1) await later.promise
        note('open')
      },
      call: (async (name: string) => note(name)) as ServingThread['call'],
      tell: ((name: string) => note(name)) as ServingThread['tell'],
      onDeath: (listener) => (die[id] = () => listener(new Error('died'))),
      close: async () => note('close'),
      terminate: async () => note('terminate'),
    }
  }
  return { calls, die, start, openLater: later.resolve, started: () => started }
}

async function openTwo() {
  const fakes = createFakes()
  const log = Object.assign(pino({ level: 'silent' }), { flush() {} })
  const set = createThreadSet({
    count: 2,
    log,
    isStaged: false,
    start: fakes.start,
    onEnd() {},
    unresponsiveSeconds: 0,
    endProcess() {},
  })
  await set.open()
  set.replaceDead(at)
  return { ...fakes, set }
}

test('a thread that takes the place of a dead one is told what the others were told, once it can be', async () => {
  const { set, calls, die, openLater, started } = await openTwo()
  die[0]?.()
  await eventually(() => assert.equal(started(), 3))
  set.tell('drain')
  assert.deepEqual(calls.slice(2), ['1 drain'])
  openLater()
  await new Promise(setImmediate)
  assert.deepEqual(calls.slice(3), ['2 open', '2 drain', '2 listen'])
})

test('the others end without waiting for one that is only starting', async () => {
  const { set, calls, die, openLater, started } = await openTwo()
  die[0]?.()
  await eventually(() => assert.equal(started(), 3))
  const closed = set.close()
  await new Promise(setImmediate)
  assert.deepEqual(calls.slice(2), ['1 stopServing', '1 close'])
  openLater()
  await closed
  assert.ok(calls.includes('2 close'))
})

test('no thread is closed before all have stopped serving and the first has read the last metrics', async () => {
  const { set, calls } = await openTwo()
  await set.close()
  const steps = ['0 stopServing', '1 stopServing', '0 exportLastMetrics', '0 close', '1 close']
  assert.deepEqual(calls.slice(2, 2 + steps.length), steps)
})
