import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunksOf } from './upload-chunks.ts'

test('a file is read in order, some lines and some bytes at a time, and others are served in between', async () => {
  for (const text of [
    '',
    'a',
    '\n'.repeat(999),
    'x"x\n'.repeat(30_000),
    'a'.repeat(100_000),
    `${'b'.repeat(20_000)}\n`,
  ]) {
    let read = ''
    let isServed = true
    for await (const chunk of chunksOf(Buffer.from(text))) {
      assert.ok(isServed, 'something else had its turn')
      isServed = false
      setImmediate(() => {
        isServed = true
      })
      assert.ok(chunk.length <= 16 * 1024)
      assert.ok(chunk.toString().split('\n').length <= 51)
      read += chunk
    }
    assert.ok(read === text)
  }
})
