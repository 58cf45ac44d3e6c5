import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMultipart } from './multipart.ts'

const type = 'multipart/form-data; boundary=--edge'
const part = (name: string, content: string, more = '') =>
  `----edge\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
const end = '----edge--\r\n'

function read(body: string | Buffer, contentType = type) {
  return readMultipart(Buffer.from(body), contentType)?.map(({ name, fileName, content }) => ({
    name,
    fileName,
    text: content.toString(),
  }))
}

test('fields and files are read as the encoder of the platform writes them', async () => {
  const form = new FormData()
  form.set('_token', 'a.b')
  form.set('quoted "name"', 'two\r\nlines')
  form.set('empty', '')
  form.set('file', new File(['a,b\r\n--c\r\n\r\n'], 'prices "new" ü.csv', { type: 'text/csv' }))
  const encoded = new Response(form)
  const body = Buffer.from(await encoded.arrayBuffer())
  assert.deepEqual(read(body, encoded.headers.get('content-type') ?? ''), [
    { name: '_token', fileName: undefined, text: 'a.b' },
    { name: 'quoted "name"', fileName: undefined, text: 'two\r\nlines' },
    { name: 'empty', fileName: undefined, text: '' },
    { name: 'file', fileName: 'prices "new" ü.csv', text: 'a,b\r\n--c\r\n\r\n' },
  ])
})

test('a boundary may be in quotes, and stands for nothing inside a line', () => {
  const body = part('a', 'x----edge--') + end
  const expected = [{ name: 'a', fileName: undefined, text: 'x----edge--' }]
  assert.deepEqual(read(body, 'multipart/form-data; charset=utf-8; boundary="--edge"'), expected)
})

test('what is malformed, or like no form of a browser, is refused', () => {
  const head = 'Content-Disposition: form-data; name="a"'
  for (const [body, contentType] of [
    ['', type],
    [end, 'multipart/form-data'],
    [part('a', 'b'), type],
    [`text before it\r\n${part('a', 'b')}${end}`, type],
    [`----edge\r\n${head}\r\nb\r\n${end}`, type],
    [`----edge\r\nContent-Disposition: form-data\r\n\r\nb\r\n${end}`, type],
    [part('a', 'b').repeat(21) + end, type],
    [part('a'.repeat(3000), 'b') + end, type],
    [`----edge\r\n${'X: y\r\n'.repeat(1000)}${head}\r\n\r\nb\r\n${end}`, type],
  ] as const) {
    assert.equal(read(body, contentType), undefined, body.slice(0, 100))
  }
})
