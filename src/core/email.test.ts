import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEmail, isTooLong, normaliseEmail } from './email.ts'

test('whatever is normalised stays as it is when it is normalised again', () => {
  for (let point = 0; point <= 0x10ffff; point++) {
    const once = normaliseEmail(`a${String.fromCodePoint(point)}b@example.com`)
    if (normaliseEmail(once) !== once) assert.fail(`U+${point.toString(16)}`)
  }
})

test('compatible spellings are one address', () => {
  for (const spelling of [
    'ＡＤＡ@example.com',
    'ada＠ｅｘａｍｐｌｅ．ｃｏｍ',
    '𝒶𝒹𝒶@example.com',
    ' Ⓐda@Example.COM ',
  ]) {
    assert.equal(normaliseEmail(spelling), 'ada@example.com')
    assert.ok(isEmail(spelling))
  }
  assert.equal(normaliseEmail('ren\u0065\u0301@example.com'), normaliseEmail('ren\u00e9@example.com'))
})

test('no default ignorable code point is in an address, at its ends neither', () => {
  assert.ok(isEmail('ada@example.com'))
  let tried = 0
  for (let point = 0; point <= 0x10ffff; point++) {
    const character = String.fromCodePoint(point)
    if (!/\p{Default_Ignorable_Code_Point}|\u2800/u.test(character)) continue
    tried += 1
    for (const email of [`a${character}da@example.com`, `${character}ada@example.com`, `ada@example.com${character}`]) {
      if (isEmail(email)) assert.fail(`U+${point.toString(16)}`)
    }
  }
  assert.ok(tried > 4000)
})

test('lengths are counted in code points, and what is far too long is not looked at closely', () => {
  const domain = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(58)}.com`
  const longest = `${'😀'.repeat(64)}@${domain}`
  assert.deepEqual([isEmail(longest), isTooLong(longest)], [true, false])
  assert.equal(isTooLong(`x${longest}`), true)
  assert.equal(isEmail(`😀${longest}`), false, 'the part before the @ has 64 at most')
  const marks = `e${'\u0301\u0323'.repeat(30_000)}@example.com`
  assert.equal(normaliseEmail(marks), marks)
  assert.deepEqual([isEmail(marks), isTooLong(marks)], [false, true])
})
