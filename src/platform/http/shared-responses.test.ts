import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedResponses } from './shared-responses.ts'

const maxBytes = 100_000

function create() {
  const responses = createSharedResponses({ maxBytes })
  let made = 0
  const ask = (key: string, state: string, bytes = 1000) =>
    responses.find(key, state, async () => {
      made += 1
      await Promise.resolve()
      return { bytes: Number.isNaN(bytes) ? undefined : bytes, number: made }
    })
  return { responses, ask, made: () => made }
}

test('a response is made once for each state, also for those who ask meanwhile', async () => {
  const { ask, made } = create()
  await Promise.all([ask('a', '1'), ask('a', '1'), ask('b', '1')])
  await ask('a', '1')
  assert.equal(made(), 2)
  await ask('a', '2')
  assert.equal(made(), 3)
})

test('what fails or is not to be kept is made anew', async () => {
  const { responses, ask, made } = create()
  const failing = responses.find('a', '1', () => Promise.reject(new Error('gone')))
  const waiting = ask('a', '1')
  await assert.rejects(failing, /gone/)
  assert.equal((await waiting).number, 1)
  await ask('long', '1', Number.NaN)
  await ask('long', '1', Number.NaN)
  assert.equal(made(), 3)
})

test('whatever is asked for, no more bytes are kept than allowed, of those used last', async () => {
  const { responses, ask, made } = create()
  for (let i = 0; i < 500; i++) {
    responses.isKnown(`${i} ${'x'.repeat(i)}`)
    await ask(`list ${i}`, '1', (i * 37) % 3000)
    await ask('often', '1')
    assert.ok(responses.bytes() <= maxBytes)
  }
  assert.equal(made(), 501)
  await ask('huge', '1', maxBytes + 1)
  assert.ok(responses.bytes() <= maxBytes)
  assert.equal(responses.isKnown('y'.repeat(10_000)), false)
  assert.equal(responses.isKnown('y'.repeat(10_000)), false)
})

test('only what was asked for before is known', () => {
  const { responses } = create()
  assert.deepEqual([responses.isKnown('a'), responses.isKnown('a'), responses.isKnown('b')], [false, true, false])
})
