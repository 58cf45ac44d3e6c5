/** Every regular expression of the service and of its client takes linear time on any text. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isSafe } from 'redos-detector'
import { root } from '../src/config/root.ts'
import { findPatterns } from './support/patterns.ts'

const files = globSync(['src/**/*.{ts,js}', 'packages/*/src/**/*.ts'], { cwd: root })
  // What tests run reads only pages of the service.
  .filter((file) => !file.endsWith('.test.ts') && !file.startsWith(join('src', 'testing')))
  .map((file) => ({ file, ...findPatterns(readFileSync(join(root, file), 'utf8'), file.endsWith('.ts')) }))

test('the checker distinguishes slow patterns from fast ones', () => {
  for (const slow of [/^(a+)+$/, /^Bearer +(.+)$/, /\s+$/, /x[^y]*y/, /^(?:\d+|\d{1,3}(?:,\d{3})+)\s*\s*$/]) {
    assert.equal(isLinear(slow), false, String(slow))
  }
  for (const quick of [/^Bearer /i, /^\d+$/, /[^a-z]+/g, /a+/y]) assert.equal(isLinear(quick), true, String(quick))
})

test('every regular expression takes linear time', () => {
  const patterns = files.flatMap(({ file, literals }) => literals.map((pattern) => ({ file, ...pattern })))
  assert.ok(patterns.length > 50, 'they were found')
  const slow = patterns
    .filter(({ regexp }) => !isLinear(regexp))
    .map(({ file, line, regexp }) => `${file}:${line} ${regexp}`)
  assert.deepEqual(slow, [], 'bound what is repeated, anchor it, or read the text without a pattern')
})

test('no regular expression is built from a text', () => {
  assert.deepEqual(
    files.flatMap(({ file, built }) => built.map((line) => `${file}:${line}`)),
    [],
  )
})

function isLinear(regexp: RegExp): boolean {
  // A sticky pattern is tried at one position only, which the checker does not know.
  const tried = regexp.sticky ? new RegExp(`^(?:${regexp.source})`, regexp.flags.replace('y', '')) : regexp
  return isSafe(tried, { timeout: Number.POSITIVE_INFINITY }).safe
}
