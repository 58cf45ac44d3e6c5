import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSampler } from './sampler.ts'

const low = `${'a'.repeat(18)}${'0'.repeat(14)}`
const middle = `${'a'.repeat(18)}80000000000000`
const high = `${'a'.repeat(18)}${'f'.repeat(14)}`
const parent = (isSampled: boolean) => ({ traceId: low, spanId: '1'.repeat(16), isSampled })

test('a ratio samples by the random part of the trace id, the same in every service', () => {
  const sample = createSampler('traceidratio', 0.5)
  assert.deepEqual(
    [low, middle, high].map((id) => sample(id, undefined)),
    [false, true, true],
  )
  assert.equal(createSampler('traceidratio', 0)(high, undefined), false)
  assert.equal(createSampler('traceidratio', 1)(low, undefined), true)
  assert.equal(sample(low, parent(true)), false, 'whatever the caller says')
})

test('with "parentbased" the caller decides, and the rest is for those without one', () => {
  assert.equal(createSampler('parentbased_always_on', 1)(low, parent(false)), false)
  assert.equal(createSampler('parentbased_always_on', 1)(low, undefined), true)
  assert.equal(createSampler('parentbased_always_off', 1)(low, parent(true)), true)
  assert.equal(createSampler('parentbased_always_off', 1)(low, undefined), false)
  assert.equal(createSampler('parentbased_traceidratio', 0.5)(low, undefined), false)
  assert.equal(createSampler('always_on', 1)(low, parent(false)), true)
  assert.equal(createSampler('always_off', 1)(low, parent(true)), false)
})
