import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createFairScheduler } from './fair-scheduler.ts'

const create = () => createFairScheduler({ onError: assert.ifError })

async function until(isDone: () => boolean): Promise<number> {
  let ticks = 0
  for (; !isDone(); ticks++) await yieldToEventLoop()
  return ticks
}

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('the first jobs run immediately, many are spread over several ticks of the event loop', async () => {
  const { run } = create()
  let done = 0
  run('a', () => {
    done += 1
  })
  assert.equal(done, 1)
  for (let i = 0; i < 200; i++) {
    run('a', () => {
      work(0.5)
      done += 1
    })
  }
  assert.ok(done < 200)
  assert.ok((await until(() => done === 201)) >= 5)
})

test('microtasks started by a job count towards the time budget', async () => {
  const { run } = create()
  let done = 0
  for (let i = 0; i < 200; i++) {
    run('a', () => {
      void Promise.resolve().then(() => {
        work(0.5)
        done += 1
      })
    })
  }
  assert.ok((await until(() => done === 200)) >= 5)
})

test('queues are served round-robin, each in order', async () => {
  const { run } = create()
  const order: string[] = []
  for (let i = 0; i < 50; i++) run('many', () => void order.push(`many ${i}`))
  for (let i = 0; i < 3; i++) run('few', () => void order.push(`few ${i}`))
  await until(() => order.length === 53)
  assert.ok(order.indexOf('few 2') < 20, order.join())
  assert.deepEqual(
    order.filter((each) => each.startsWith('many')),
    Array.from({ length: 50 }, (_, i) => `many ${i}`),
  )
})

test('an error in a job is reported, and the other jobs run', async () => {
  const errors: unknown[] = []
  const { run } = createFairScheduler({ onError: (error) => errors.push(error) })
  let done = 0
  for (let i = 0; i < 20; i++) {
    run('a', () => {
      done += 1
      throw new Error(`job ${i}`)
    })
  }
  await until(() => done === 20)
  assert.equal(errors.length, 20)
})

test('a full queue rejects jobs and does not affect the others', async () => {
  const { run, wait } = create()
  let done = 0
  const job = () => {
    done += 1
  }
  let taken = 0
  while (run('full', job)) taken += 1
  assert.ok(taken >= 100_000)
  assert.equal(run('other', job), true)
  await wait('full')
  await until(() => done === taken + 1)
  assert.equal(run('full', job), true)
})
