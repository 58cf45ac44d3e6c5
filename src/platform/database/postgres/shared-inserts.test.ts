import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Value } from '../database.ts'
import { createSharedInserts, shareInsert } from './shared-inserts.ts'

const insert = "INSERT INTO things (at, also_at, label, note) VALUES ($1, $1, $2, '$3') RETURNING id, label"

interface Trip {
  labels: readonly unknown[]
  answer(rows: object[]): void
  fail(code: string): void
}

/** Inserts that are answered by hand. */
async function createInserts() {
  const trips: Trip[] = []
  const run = (_sql: string, values: readonly Value[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<object[]>()
    const fail = (code: string) => reject(Object.assign(new Error('failed'), { code }))
    trips.push({ labels: [values[1]].flat(), answer: resolve, fail })
    return promise
  }
  const insertOne = createSharedInserts({ run, findTypes: async () => ['timestamptz', 'text'] })
  const add = (label: string) => insertOne(insert, ['now', label])
  // The first two that meet find out how the statement can be shared.
  const first = [add('a'), add('b')]
  await turn()
  for (const [i, trip] of trips.splice(0).entries()) trip.answer([{ id: i }])
  await Promise.all(first)
  await turn()
  return { add, trips, sent: () => trips.map(({ labels }) => labels) }
}

test('one statement with an array for each parameter, and ids in the order of the calls', () => {
  assert.equal(
    shareInsert(insert, ['timestamptz', 'text']),
    `INSERT INTO things (at, also_at, label, note) SELECT given.p1, given.p1, given.p2, '$3' FROM unnest($1::timestamptz[], $2::text[]) WITH ORDINALITY AS given (p1, p2, nr) ORDER BY given.nr RETURNING id, label`,
  )
  assert.throws(
    () => shareInsert('INSERT INTO things (label) SELECT $1 RETURNING id', ['text']),
    /not an INSERT of one/,
  )
})

test('each gets its own row, in whatever order they come back', async () => {
  const { add, trips, sent } = await createInserts()
  const rows = Promise.all([add('x'), add('y'), add('z')])
  await turn()
  assert.deepEqual(sent(), [['x', 'y', 'z']])
  trips[0]?.answer([{ id: 9 }, { id: 11 }, { id: 10 }])
  assert.deepEqual(await rows, [{ id: 9 }, { id: 10 }, { id: 11 }])
})

test('long values go alone', async () => {
  const { add, sent } = await createInserts()
  const long = 'l'.repeat(100_000)
  void add(long)
  void add('s')
  void add(long)
  await turn()
  assert.deepEqual(sent(), [[long, 's'], [long]])
})

test('data that the database refuses fail only their own caller', async () => {
  const { add, trips, sent } = await createInserts()
  const rows = Promise.allSettled([add('good'), add('bad')])
  await turn()
  trips[0]?.fail('23514')
  await turn()
  assert.deepEqual(sent(), [['good', 'bad'], ['good'], ['bad']])
  trips[1]?.answer([{ id: 1 }])
  trips[2]?.fail('23514')
  assert.deepEqual(
    (await rows).map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
})

test('nothing is inserted again after a lost connection: the rows may be there', async () => {
  const { add, trips } = await createInserts()
  const rows = Promise.allSettled([add('x'), add('y')])
  await turn()
  trips[0]?.fail('ECONNRESET')
  assert.deepEqual(
    (await rows).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(trips.length, 1)
})
