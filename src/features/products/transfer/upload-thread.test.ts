import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openUploadReader } from '../../../collections/transfer/upload-reader.ts'
import { FatalError } from '../../../core/fatal-error.ts'
import type { ProductValues } from '../product.ts'

const fileOf = (text: string) => ({ name: 'products.csv', bytes: new Uint8Array(Buffer.from(text)) })
const thread = { file: new URL('./upload-thread.ts', import.meta.url) }
const { signal } = new AbortController()

test('a file whose reading takes too much memory ends its thread, and is refused', async () => {
  const rows = `${'x'.repeat(800)},a,b\n`.repeat(9900)
  const reader = openUploadReader<ProductValues>(thread, fileOf(`name,description,price\n${rows}`), {
    signal,
    maxHeapMegabytes: 16,
  })
  await assert.rejects(reader.listRejected([]), (error) => {
    assert.ok(error instanceof FatalError)
    assert.equal(error.message, 'reading the file takes too much memory')
    return true
  })
  await reader.close()
})

test('reading ends when nobody waits for it any more', async () => {
  const client = new AbortController()
  const reader = openUploadReader<ProductValues>(thread, fileOf('name,description,price\na,b,1\n'), {
    signal: client.signal,
  })
  const summary = reader.summarize()
  client.abort(new Error('the client disconnected'))
  await assert.rejects(summary, /^Error: the client disconnected$/)
  await reader.close()
})

test('the rows of a file come in its order, however long it is', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => (i % 7 === 3 ? `bad ${i}` : `Lamp ${i},x,1`))
  const reader = openUploadReader<ProductValues>(thread, fileOf(['name,description,price', ...lines].join('\n')), {
    signal,
  })
  const names: string[] = []
  for await (const rows of reader.rows()) {
    for (const row of rows) names.push('values' in row ? row.values.name : `line ${row.line}`)
  }
  assert.deepEqual(
    names,
    lines.map((line, i) => (line.startsWith('bad') ? `line ${i + 2}` : `Lamp ${i}`)),
  )
  await reader.close()
})
