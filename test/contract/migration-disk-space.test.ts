/** A migration that rewrites a large table of a SQLite file. PostgreSQL has none. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FatalError } from '../../src/core/fatal-error.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl } from '../support/databases.ts'
import { migrationsBefore, openOptions } from '../support/migrations.ts'
import { latchkey } from '../support/process.ts'

const megabyte = 1_000_000

/** A database of an earlier version, with `count` products of a megabyte. */
async function prepare(t: TestContext, products: number) {
  const url = await createDatabaseUrl(t, 'sqlite')
  const former = openOptions({ url, migrations: migrationsBefore(t, '0009') })
  const { db } = await openDatabase(former)
  const insert = (_: unknown, i: number) => ({
    sql: `INSERT INTO products (name, name_key, slug, description, price_cents, created_at, updated_at)
          VALUES ($1, $1, $1, $2, 1, $3, $3)`,
    params: [`lamp ${i}`, `${i} `.repeat(megabyte / `${i} `.length), '2026-01-01T00:00:00.000Z'],
  })
  if (products > 0) await db.write(...Array.from({ length: products }, insert))
  await db.close()
  // Without later migrations: this is about what 0009 needs and reports.
  return { url, former, migrations: migrationsBefore(t, '0010') }
}

const sum = 'SELECT count(*) AS n, sum(length(description)) AS length FROM products'

test('too little disk space is reported in one line before the migration starts, and nothing is changed', async (t) => {
  const { url, former, migrations } = await prepare(t, 20)
  const lines: string[] = []
  const options = openOptions({ url, migrations, onLongWork: (line) => void lines.push(line) })
  await assert.rejects(
    openDatabase({ ...options, freeBytes: async () => 30 * megabyte }),
    (error: unknown) =>
      error instanceof FatalError &&
      error.lines.length === 1 &&
      /^migration 0009-.* needs about 6\d MB on the disk of .*test\.db, where 30 MB are free/.test(error.message),
  )
  assert.deepEqual(lines, [])
  const before = await openDatabase(former)
  assert.deepEqual(before.applied, [])
  const had = await before.db.get<{ n: number }>(sum)
  assert.equal(had?.n, 20)
  await before.db.close()

  const { db, applied } = await openDatabase({ ...options, freeBytes: async () => 70 * megabyte })
  t.after(() => db.close())
  assert.deepEqual(applied, ['0009-description-last.sql'])
  assert.deepEqual(await db.get(sum), had)
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /rewrites the table products, 2\d MB/)
})

test('a small table is rewritten without a log message', async (t) => {
  const { url, migrations } = await prepare(t, 1)
  const lines: string[] = []
  const { db } = await openDatabase(openOptions({ url, migrations, onLongWork: (line) => void lines.push(line) }))
  await db.close()
  assert.deepEqual(lines, [])
})

test('an empty database needs hardly any disk space, and an unknown free space is no obstacle', async (t) => {
  for (const free of [20_000, undefined]) {
    const { url, migrations } = await prepare(t, free === undefined ? 1 : 0)
    const { db } = await openDatabase(openOptions({ url, migrations, freeBytes: async () => free }))
    await db.close()
  }
})

test('a command announces changes too', async (t) => {
  const { url } = await prepare(t, 20)
  const { code, stdout, stderr } = await latchkey(['migrate'], { env: { DATABASE_URL: url } })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^applied 0009-description-last\.sql\n(?:applied \d{4}-[^\n]*\n)*$/)
  assert.match(stderr, /^.*rewrites the table products, 2\d MB: this may take minutes.*\n$/)
})
