import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excerpts } from './excerpts.ts'

test('short texts are shown as they are', () => {
  assert.deepEqual(excerpts('', 'new'), ['', 'new'])
  assert.deepEqual(excerpts('a'.repeat(160), 'b'), ['a'.repeat(160), 'b'])
})

test('of long texts, the part where they begin to differ is shown', () => {
  const start = 'x'.repeat(1000)
  const [from, to] = excerpts(`${start}old end`, `${start}new end${'y'.repeat(1000)}`)
  assert.equal(from, `…${'x'.repeat(24)}old end`)
  assert.equal(to, `…${'x'.repeat(24)}new end${'y'.repeat(129)}…`)
})

test('a text that only became longer shows what was added', () => {
  assert.deepEqual(excerpts('', 'z'.repeat(200)), ['', `${'z'.repeat(160)}…`])
  const [from, to] = excerpts('z'.repeat(200), `${'z'.repeat(200)}!`)
  assert.deepEqual([from, to], [`…${'z'.repeat(24)}`, `…${'z'.repeat(24)}!`])
})

test('no character is cut in half', () => {
  for (const shift of ['', 'a']) {
    const [from, to] = excerpts(`${shift}${'😀'.repeat(100)}`, `${shift}${'😀'.repeat(99)}${'😎'.repeat(100)}`)
    assert.ok(from.isWellFormed() && to.isWellFormed())
    assert.ok(to.includes('😎') && !from.includes('😎'))
  }
})
