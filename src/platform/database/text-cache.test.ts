import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTextCache } from './text-cache.ts'

function createCounted() {
  const evicted: number[] = []
  const cache = createTextCache<number>((entry) => void evicted.push(entry))
  return { cache, evicted }
}

test('however many texts there are, a thousand are kept at most, and the others are evicted once each', () => {
  const { cache, evicted } = createCounted()
  for (let i = 0; i < 20_000; i++) {
    cache.set(`SELECT ${i}`, i)
    assert.equal(cache.get(`SELECT ${i}`), i)
    assert.ok(i + 1 - evicted.length <= 1000)
  }
  assert.equal(new Set(evicted).size, evicted.length)
  assert.ok(!evicted.includes(19_999))
})

test('a text in use stays, whatever comes and goes', () => {
  const { cache, evicted } = createCounted()
  cache.set('SELECT constant', -1)
  for (let i = 0; i < 5000; i++) {
    cache.set(`SELECT ${i}`, i)
    assert.equal(cache.get('SELECT constant'), -1)
  }
  assert.ok(evicted.length > 0 && !evicted.includes(-1))
})

test('the length of what is kept is limited, and of very long texts one is kept, which displaces no other', () => {
  const { cache, evicted } = createCounted()
  const medium = (i: number) => `SELECT ${i} ${'x'.repeat(10_000)}`
  for (let i = 0; i < 200; i++) cache.set(medium(i), i)
  assert.ok(200 - evicted.length <= 52, `${200 - evicted.length} are kept`)
  const before = evicted.length
  const long = (i: number) => `SELECT ${i} ${'x'.repeat(1_000_000)}`
  for (let i = 1000; i < 1010; i++) {
    cache.set(long(i), i)
    assert.equal(cache.get(long(i)), i)
  }
  assert.deepEqual(evicted.slice(before), [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008])
  assert.equal(cache.get(medium(199)), 199)
})
