import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { amount } from '../../../test/support/tiers.ts'
import { productColumns } from '../../features/products/transfer/columns.ts'
import { createCsvReader } from './csv-reader.ts'
import type { SourceRecord } from './records.ts'

const header = 'name,description,price'

/** Reads the text in chunks of `size` bytes. */
function read(file: string | Buffer, { size = 64 * 1024, delimiter = ',' } = {}): SourceRecord[] {
  const bytes = Buffer.from(file)
  const reader = createCsvReader({ delimiter, isExact: false }, productColumns)
  const records: SourceRecord[][] = []
  for (let at = 0; at < bytes.length; at += size) records.push(reader.push(bytes.subarray(at, at + size)))
  return [...records.flat(), ...reader.end()]
}

const row = (line: number, name: string, description: string, price: string) => ({
  line,
  row: { name, description, price },
})

test('rows know their line, whatever the line breaks and the pieces that the file comes in', () => {
  const file = `\ufeff${header}\r\n\r\nLamp,Bright,1\r\n"a ""b"", c","one\r\ntwo\nthree",2\r\nTisch,für 😀,3\n\nx,y,4`
  const expected = [
    row(3, 'Lamp', 'Bright', '1'),
    row(4, 'a "b", c', 'one\r\ntwo\nthree', '2'),
    row(7, 'Tisch', 'für 😀', '3'),
    row(9, 'x', 'y', '4'),
  ]
  for (const size of [1, 2, 3, 7, 1000]) assert.deepEqual(read(file, { size }), expected, `${size} bytes at a time`)
})

test('columns are found by their names, in any order and case; others are ignored', () => {
  assert.deepEqual(read('ID; Price ;NAME;Description;Active\n7;1;a;b;TRUE\n', { delimiter: ';' }), [
    { line: 2, row: { price: '1', name: 'a', description: 'b', active: 'true' } },
  ])
})

test('prices are read as spreadsheets write them; with semicolons, what may be either of two is refused', () => {
  const prices = ['12,50', '1.234,50', '$3.50', '7.5', 'free']
  const records = read(`name;description;price\n${prices.map((price) => `a;b;${price}\n`).join('')}`, {
    delimiter: ';',
  })
  const expected = ['12.50', '1234.50', '3.50', '7.5', 'free'].map((price, i) => row(i + 2, 'a', 'b', price))
  assert.deepEqual(records, expected)
  const [unclear] = read('name;description;price\na;b;1.234\n', { delimiter: ';' })
  assert.ok(unclear && 'problem' in unclear)
  assert.match(unclear.problem, /^price: “1\.234” is unclear: type 1234\.00 or 1\.23$/)
  assert.deepEqual(read(`${header}\na,b,1.234\n`), [row(2, 'a', 'b', '1.234')])
})

test('a file that is not UTF-8 says so', () => {
  for (const file of [
    Buffer.from('\ufeffname,description,price\na,b,1\n', 'utf16le'),
    Buffer.from([0xff, 0xfe, 0, 10]),
  ]) {
    assert.throws(() => read(file), /^FatalError: the first row is not UTF-8 text; save the file as UTF-8$/)
  }
})

test('a malformed row costs that row alone', () => {
  const bad: [text: string, problem: RegExp][] = [
    ['a,b', /^has 2 fields, where the header has 3$/],
    ['a,b,1,d', /^has 4 fields/],
    ['a,"b"c,1', /closing quote is followed by text/],
    ['a,"b,1', /quote/],
  ]
  for (const [text, problem] of bad) {
    for (const size of [1, 1000]) {
      const [first, second, third, ...more] = read(`${header}\n${text}\nx,"y",1\nx,y,2\n`, { size })
      assert.ok(first && 'problem' in first, text)
      assert.match(first.problem, problem)
      assert.equal(first.line, 2)
      assert.deepEqual([second, third, more], [row(3, 'x', 'y', '1'), row(4, 'x', 'y', '2'), []], text)
    }
  }
})

test('a file of nothing but wrong rows is told row by row', () => {
  const records = read(`${header}\n${'"Lamp "big" one",b,1\n'.repeat(5000)}x,y,2\n`)
  assert.deepEqual(
    records.filter((record) => 'problem' in record).map(({ line }) => line),
    Array.from({ length: 5000 }, (_, i) => i + 2),
  )
  assert.deepEqual(records.at(-1), row(5002, 'x', 'y', '2'))
})

test('a quote inside a field that does not begin with one is told', () => {
  assert.deepEqual(read(`${header}\n5" pipe,a,1\nx,y,2\n`), [
    { line: 2, problem: 'a quote stands inside a field that does not begin with one; write the field in quotes' },
    row(3, 'x', 'y', '2'),
  ])
})

test('bytes that are not UTF-8 are refused, not replaced', () => {
  const latin1 = Buffer.from(`${header}\nTür,b,1\nx,y,2\n`, 'latin1')
  assert.deepEqual(read(latin1, { size: 5 }), [{ line: 2, problem: 'not UTF-8 text' }, row(3, 'x', 'y', '2')])
})

test('a quote that is never closed does not take the rest of the file with it', () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `name ${i},${'d'.repeat(20)},1`)
  lines[100] = 'x,"open,1'
  const records = read([header, ...lines].join('\n'))
  assert.equal(records.length, lines.length)
  assert.deepEqual(
    records.filter((record) => 'problem' in record),
    [{ line: 102, problem: 'longer than 1 MiB, or a quote is not closed' }],
  )
})

test('a line of many megabytes is one wrong row', () => {
  const records = read(`${header}\n${'x'.repeat(5 << 20)}\na,b,1\n`)
  assert.deepEqual(records, [
    { line: 2, problem: 'longer than 1 MiB, or a quote is not closed' },
    row(3, 'a', 'b', '1'),
  ])
})

test('no file takes much longer to read than its size explains', { timeout: 120_000 }, () => {
  const bytes = amount({ full: 4 << 20, otherwise: 1 << 20 })
  const fill = (text: string) => text.repeat(bytes / text.length)
  const files = [
    '"a\n',
    'a,"b""c\n',
    ',',
    '"',
    '\n',
    '""\n',
    `"${'x,y,z\n'.repeat(170_000)}`,
    `${','.repeat(16_382)}\n`,
  ]
  for (const text of files) assert.ok(read(`${header}\n${fill(text)}\na,b,1\n`).length > 0)
})

test('a row of too many fields is one wrong row; a first row of too many ends the file', () => {
  assert.deepEqual(read(`${header}\n${','.repeat(20_000)}\na,b,1\n`), [
    { line: 2, problem: 'has more than 16,384 fields' },
    row(3, 'a', 'b', '1'),
  ])
  assert.throws(() => read(`${header}${','.repeat(20_000)}\n`), {
    message: 'the first row has more than 16,384 fields',
  })
})

test('without the columns that are needed nothing is read', () => {
  const cases: [file: string, message: RegExp][] = [
    ['', /is empty/],
    ['\n\n', /is empty/],
    ['name,price\na,1\n', /^the file has no column description; its first row is: name,price$/],
    ['name;description;price\n', /no column name, description, price; .*; are its fields separated by ";"\?/],
    ['name,description,price,name\n', /has the column name twice/],
    ['\u001b[31m,x\n', /its first row is: \ufffd\[31m,x$/],
  ]
  for (const [file, message] of cases) assert.throws(() => read(file), { message })
})

test('what a writer of CSV has written is read as it was', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '😀', '=', ';'), maxLength: 12 })
  const table = fc.array(fc.tuple(text, text, text), { maxLength: 8 })
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 40 }), (rows, size) => {
      const written = stringify([['name', 'description', 'price'], ...rows], { quoted_match: /\r/ })
      const values = read(written, { size }).map((record) => ('row' in record ? Object.values(record.row) : record))
      assert.deepEqual(values, rows)
    }),
    { numRuns: amount({ full: 500, otherwise: 100 }) },
  )
})
