import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from 'otpauth'
import { systemRandom } from '../../core/random.ts'
import { createRecoveryCodes, createSecret, findStep, hashRecoveryCode } from './codes.ts'

/** RFC 6238, appendix B, SHA-1: time in seconds and the last six of its eight digits. */
const vectors: [seconds: number, code: string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]
const secret = Secret.fromUTF8('12345678901234567890').base32

for (const [seconds, code] of vectors) {
  test(`RFC 6238: at ${seconds} seconds the code is ${code}, one step either side and no further`, () => {
    const step = Math.floor(seconds / 30)
    for (const offset of [-30, 0, 30]) assert.equal(findStep(secret, code, (seconds + offset) * 1000), step)
    for (const offset of [-60, 60]) assert.equal(findStep(secret, code, (seconds + offset) * 1000), undefined)
  })
}

test('what is not six digits is no code', () => {
  for (const code of ['', '28708', '2870822', '28708a', ' 287082', '٢٨٧٠٨٢', '-28708']) {
    assert.equal(findStep(secret, code, 59_000), undefined, code)
  }
})

test('secrets have 160 bits, recovery codes 120, and no two are alike', () => {
  assert.match(createSecret(systemRandom), /^[A-Z2-7]{32}$/)
  const codes = createRecoveryCodes(systemRandom)
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) assert.equal(code.replaceAll('-', '').length, 24)
  const [code = ''] = codes
  assert.equal(hashRecoveryCode(code), hashRecoveryCode(` ${code.toLowerCase().replaceAll('-', ' ')}`))
})
