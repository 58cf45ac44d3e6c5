import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNdjsonReader } from './ndjson-reader.ts'
import type { SourceRecord } from './records.ts'

/** Reuses one buffer for all chunks, as reading a file does. */
function read(file: string | Buffer, size = 64 * 1024): SourceRecord[] {
  const bytes = Buffer.from(file)
  const memory = Buffer.alloc(size)
  const reader = createNdjsonReader()
  const records: SourceRecord[] = []
  for (let at = 0; at < bytes.length; at += size) {
    records.push(...reader.push(memory.subarray(0, bytes.copy(memory, 0, at, at + size))))
  }
  return [...records, ...reader.end()]
}

test('a line is a record, and knows its number, whatever pieces the file comes in', () => {
  const file = '\ufeff{"name":"für 😀"}\r\n\r\n  \n[1]\n{"a":\nnull\n"x"\n{"price":1}'
  const problem = 'not a JSON object'
  const expected = [
    { line: 1, row: { name: 'für 😀' } },
    { line: 4, problem },
    { line: 5, problem },
    { line: 6, problem },
    { line: 7, problem },
    { line: 8, row: { price: 1 } },
  ]
  for (const size of [1, 2, 5, 1000]) assert.deepEqual(read(file, size), expected, `${size} bytes at a time`)
})

test('what is not UTF-8, or too long, costs its line alone', () => {
  const file = Buffer.concat([
    Buffer.from('{"name":"Tür"}\n', 'latin1'),
    Buffer.from(`{"name":"${'x'.repeat(3 << 20)}"}\n{"price":1}\n`),
  ])
  assert.deepEqual(read(file), [
    { line: 1, problem: 'not UTF-8 text' },
    { line: 2, problem: 'longer than 1 MiB' },
    { line: 3, row: { price: 1 } },
  ])
})

test('a line that is nested too deep, or has too many values, is not parsed', () => {
  const deep = (levels: number) => `{"name":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const wide = `{"name":[${'1,'.repeat(20_000)}1]}`
  const text = '{"name":"[[{,\\"[,"}'
  assert.deepEqual(read([deep(200_000), wide, '['.repeat(50_000), text].join('\n')), [
    { line: 1, problem: 'is nested more than 32 levels deep' },
    { line: 2, problem: 'has more than 16,384 values' },
    { line: 3, problem: 'is nested more than 32 levels deep' },
    { line: 4, row: { name: '[[{,"[,' } },
  ])
})
