import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ticket } from './fair-lines.ts'
import { createFairQueue, type FairQueueOptions } from './fair-queue.ts'

/** A queue whose work ends when the test says so, in starting order. */
function createManualQueue(options: Partial<FairQueueOptions> = {}) {
  const full = new Error('full')
  const gone = new Error('gone')
  const queue = createFairQueue({
    atOnce: 1,
    maxPerClient: 100,
    maxWaiting: 1000,
    full: () => full,
    gone: () => gone,
    ...options,
  })
  const began: string[] = []
  const ends: (() => void)[] = []
  const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

  function add(client: string, name = client, ticket: Partial<Ticket> = {}) {
    const outcome = queue.run({ client, isUrgent: true, ...ticket }, () => {
      began.push(name)
      return new Promise<string>((resolve) => ends.push(() => resolve(name)))
    })
    return outcome.catch((error: Error) => error.message)
  }
  /** Ends so many entries, one by one. */
  async function end(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      ends.shift()?.()
      await tick()
    }
  }
  return { queue, began, add, end }
}

test('a newcomer is next, however many of one client wait before them', async () => {
  const { began, add, end } = createManualQueue({ atOnce: 2 })
  for (let i = 0; i < 50; i++) void add('flood', `flood ${i}`)
  assert.deepEqual(began, ['flood 0', 'flood 1'])
  void add('newcomer')
  await end(1)
  assert.deepEqual(began.slice(2), ['newcomer'])
  await end(2)
  assert.deepEqual(began.slice(3), ['flood 2', 'flood 3'])
})

test('clients take turns', async () => {
  const { began, add, end } = createManualQueue()
  for (const client of ['a', 'a', 'a', 'b', 'b', 'c']) void add(client)
  await end(6)
  assert.deepEqual(began, ['a', 'b', 'c', 'a', 'b', 'a'])
})

test('a free slot goes to the client with the fewest running, whoever came first', async () => {
  const { began, add, end } = createManualQueue({ atOnce: 3 })
  for (const client of ['brief', 'flood', 'flood', 'flood', 'flood', 'late']) void add(client)
  assert.deepEqual(began, ['brief', 'flood', 'flood'])
  await end(1)
  assert.deepEqual(began.slice(3), ['late'])
})

test('a client alone gets every slot', () => {
  const { began, add } = createManualQueue({ atOnce: 4 })
  for (let i = 0; i < 6; i++) void add('alone')
  assert.equal(began.length, 4)
})

test('urgent work goes before the rest, of whichever client, and does not starve it', async () => {
  const { began, add, end } = createManualQueue()
  void add('z', 'first')
  for (let i = 0; i < 3; i++) void add('a', `other ${i}`, { isUrgent: false })
  for (let i = 0; i < 7; i++) void add('b', `urgent ${i}`)
  await end(11)
  assert.deepEqual(began.slice(1, 5), ['urgent 0', 'urgent 1', 'other 0', 'urgent 2'])
  assert.deepEqual(began.slice(-2), ['urgent 6', 'other 2'])
})

test('work whose client has gone is dropped before it begins', async () => {
  const { queue, began, add, end } = createManualQueue()
  let isGone = false
  void add('a', 'running')
  const dropped = Array.from({ length: 5 }, (_, i) => add('b', `gone ${i}`, { isGone: () => isGone }))
  const kept = add('c', 'kept')
  isGone = true
  await end(2)
  assert.deepEqual(began, ['running', 'kept'])
  assert.deepEqual(await Promise.all(dropped), Array(5).fill('gone'))
  assert.equal(await kept, 'kept')
  assert.deepEqual(queue.counts(), { clients: 0, waiting: 0 })
})

test("a full line refuses its own client, and makes room where the client's earlier work has gone", async () => {
  const { add, queue } = createManualQueue({ maxPerClient: 3 })
  let isGone = false
  for (let i = 0; i < 4; i++) void add('a', `a ${i}`, { isGone: () => isGone })
  assert.equal(await add('a'), 'full')
  void add('b')
  assert.equal(queue.counts().waiting, 4)
  isGone = true
  void add('a', 'again')
  assert.equal(queue.counts().waiting, 2)
})

test('where all lines together are full, the longest pays', async () => {
  const { add, queue } = createManualQueue({ maxPerClient: 6, maxWaiting: 8 })
  const refused: string[] = []
  const note = (client: string, name = client) =>
    void add(client, name).then((outcome) => outcome === 'full' && refused.push(name))
  for (let i = 0; i < 7; i++) note('flood', `flood ${i}`)
  for (const client of ['b', 'c', 'd', 'e']) note(client)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(refused, ['flood 6', 'flood 5'])
  assert.equal(queue.counts().waiting, 8)
  // Four clients have one entry each and the flood has four: its next entry is refused.
  assert.equal(await add('flood'), 'full')
})

test('what has begun is never refused: it waits in a full line, and pays for no other', async () => {
  const { queue, add, end } = createManualQueue({ maxPerClient: 2, maxWaiting: 3 })
  const begun = Array.from({ length: 5 }, (_, i) => add('a', `a ${i}`, { isBegun: true }))
  assert.equal(await add('a', 'a new'), 'full')
  assert.equal(await add('b'), 'full', 'nothing of the longest line can make room')
  assert.equal(queue.counts().waiting, 4)
  await end(5)
  assert.deepEqual(await Promise.all(begun), ['a 0', 'a 1', 'a 2', 'a 3', 'a 4'])
})

test('with nothing but lines of one, a newcomer is refused', async () => {
  const { add } = createManualQueue({ maxWaiting: 3 })
  for (const client of ['a', 'b', 'c', 'd']) void add(client)
  assert.equal(await add('e'), 'full')
})

test('nothing of a client is kept once it has been served, failed or refused', async () => {
  const { queue, add, end } = createManualQueue()
  void add('a')
  await assert.rejects(
    Promise.all([end(1), queue.run({ client: 'b', isUrgent: true }, () => Promise.reject(new Error('failed')))]),
    /failed/,
  )
  await end(1)
  assert.deepEqual(queue.counts(), { clients: 0, waiting: 0 })
})

test('closing refuses what waits and what comes', async () => {
  const { queue, add, end } = createManualQueue()
  const running = add('a', 'running')
  const waiting = add('a', 'waiting')
  queue.close()
  assert.equal(await waiting, 'full')
  assert.equal(await add('b'), 'full')
  await end(1)
  assert.equal(await running, 'running')
})
