import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceparent } from './trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

test('reads trace, parent and sampling, and passes the state on', () => {
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId, isSampled: true })
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-00`, 'a=1'), {
    traceId,
    spanId,
    isSampled: false,
    state: 'a=1',
  })
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-03`)?.isSampled, true)
  assert.equal(parseTraceparent(`01-${traceId}-${spanId}-01-more`)?.traceId, traceId, 'of a later version')
})

test('ignores everything else', () => {
  const invalid = [
    undefined,
    '',
    traceId,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    ` 00-${traceId}-${spanId}-01`,
  ]
  for (const header of invalid) assert.equal(parseTraceparent(header), undefined, String(header))
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-01`, 'x'.repeat(513))?.state, undefined)
})
