import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toIso } from './types.ts'

test('times come out as a Date would write them', () => {
  for (const value of [
    '2026-01-02 03:04:05+00',
    '2026-01-02 03:04:05.6+00',
    '2026-01-02 03:04:05.67+00',
    '2026-01-02 03:04:05.678+00',
    '2026-01-02 03:04:05.678912+00',
    '2026-01-02 03:04:05.678+02',
    '2026-01-02 03:04:05+05:30',
  ]) {
    assert.equal(toIso(value), new Date(value).toISOString(), value)
  }
  fc.assert(
    fc.property(fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      const iso = date.toISOString()
      const written = iso.replace('T', ' ').replace(/\.?0*Z$/, '+00')
      assert.equal(toIso(written), iso)
    }),
  )
})
