import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningOf, shapeOf, watchChangingTexts } from './changing-texts.ts'
import type { Database } from './database.ts'

const places = (count: number) => Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ')

const families: Record<string, (n: number) => string> = {
  'lists of placeholders': (n) => `SELECT name FROM owners WHERE id IN (${places(n)})`,
  'lists of values': (n) => `SELECT name FROM owners WHERE name IN ('${Array(n).fill('a').join("', '")}')`,
  'a value': (n) => `SELECT name FROM owners WHERE id = ${n} LIMIT 1`,
  alternatives: (n) => `SELECT 1 FROM owners WHERE ${Array(n).fill('name = $1').join(' OR ')}`,
  rows: (n) => `INSERT INTO owners (a, b) VALUES ${Array(n).fill('($1, $2)').join(', ')}`,
  'queries together': (n) => Array(n).fill('SELECT name FROM owners WHERE id = $1').join(' UNION ALL '),
}

for (const [name, write] of Object.entries(families)) {
  test(`texts that differ in ${name} have one shape`, () => {
    const shapes = new Set([3, 4, 10, 300].map((n) => shapeOf(write(n))))
    assert.equal(shapes.size, 1, [...shapes].join('\n'))
  })
}

test('texts of other columns or tables have other shapes', () => {
  const texts = ['SELECT a FROM b', 'SELECT a FROM c', 'SELECT a, c FROM b', 'SELECT a FROM b WHERE c = $1']
  assert.equal(new Set(texts.map(shapeOf)).size, texts.length)
})

test('a text that is not constant is found once, whatever sends it; constant ones never are', async () => {
  const db = {
    get: async () => undefined,
    all: async () => [],
    scan: async () => [],
    write: async () => [],
  } as unknown as Database
  const found: string[] = []
  const watched = watchChangingTexts(db, (sql) => void found.push(sql))
  for (let i = 0; i < 1000; i++) await watched.all('SELECT constant FROM owners WHERE id = $1', [i])
  const write = families['lists of placeholders'] as (n: number) => string
  for (let n = 1; n < 100; n += 4) {
    await watched.get(write(n))
    await watched.all(write(n + 1))
    await watched.scan(write(n + 2))
    await watched.write({ sql: write(n + 3) })
  }
  assert.equal(found.length, 1)
  assert.match(beginningOf(found[0] ?? ''), /^SELECT name FROM owners WHERE id IN \(\$1, /)
  assert.ok(beginningOf(found[0] ?? '').length <= 121)
})
