import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, systemRandom } from '../../core/random.ts'
import { createKey, hintOf, isWellFormed } from './key-format.ts'

test('a key is of its form, and no two are alike', () => {
  const keys = Array.from({ length: 1000 }, () => createKey(systemRandom))
  assert.equal(new Set(keys).size, keys.length)
  for (const key of keys) {
    assert.match(key, /^lk_[0-9A-Za-z]{40}$/)
    assert.ok(isWellFormed(key))
    assert.equal(hintOf(key), `${key.slice(0, 7)}…${key.slice(-4)}`)
  }
})

test('bytes that would make some characters likelier are drawn again', () => {
  // 256 is no multiple of 62: the last eight bytes would favour the first eight characters.
  for (let byte = 248; byte < 256; byte++) {
    const random = createRandom((length) => Buffer.from(Array.from({ length }, (_, i) => (i % 2 === 0 ? byte : 61))))
    assert.equal(createKey(random).slice(3, -6), 'z'.repeat(34))
  }
  const drawn = new Map<string | undefined, number>()
  for (let byte = 0; byte < 248; byte++) {
    const char = createKey(createRandom((length) => Buffer.alloc(length, byte)))[3]
    drawn.set(char, (drawn.get(char) ?? 0) + 1)
  }
  assert.deepEqual([drawn.size, new Set(drawn.values())], [62, new Set([4])])
})

test('the checksum is the known one, with leading zeros', () => {
  const zeros = createRandom((length) => Buffer.alloc(length))
  assert.equal(createKey(zeros).slice(0, -6), `lk_${'0'.repeat(34)}`)
  assert.ok(isWellFormed(createKey(zeros)))
})

test('a key with any one character changed, missing, doubled or exchanged is not well-formed', () => {
  const key = createKey(systemRandom)
  for (let i = 0; i < key.length; i++) {
    const other = key[i] === 'x' ? 'y' : 'x'
    const [before, after] = [key.slice(0, i), key.slice(i + 1)]
    for (const wrong of [before + other + after, before + after, before + key[i] + key[i] + after]) {
      assert.ok(!isWellFormed(wrong), wrong)
    }
    const exchanged = before + (key[i + 1] ?? '') + key[i] + key.slice(i + 2)
    assert.ok(exchanged === key || !isWellFormed(exchanged))
  }
  for (const wrong of ['', 'lk_', key.slice(3), `${key}\n`, key.toLowerCase(), key.replace('lk_', 'LK_')]) {
    assert.ok(!isWellFormed(wrong), wrong)
  }
})
