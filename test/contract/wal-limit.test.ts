/** The size of SQLite's -wal under reads that never end. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/databases.ts'

const megabyte = 1024 * 1024
const maxWalBytes = 4 * megabyte
const text = 'x'.repeat(100_000)

async function open(t: TestContext) {
  const path = join(temporaryFolder(t), 'test.db')
  const db = openSqlite({ path, observe: () => {}, log: undefined, maxWalBytes })
  t.after(() => db.close())
  await db.write({ sql: 'CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)' })
  await db.write({ sql: 'INSERT INTO texts (id, text) VALUES (1, $1)', params: [text] })
  const walBytes = () => statSync(`${path}-wal`).size
  /** Writes the megabytes in commits of one each; returns how often the -wal was emptied. */
  async function write(megabytes: number): Promise<number> {
    let emptied = 0
    let before = walBytes()
    for (let i = 0; i < megabytes; i++) {
      const insert = { sql: 'INSERT INTO texts (text) VALUES ($1)', params: [text] }
      await db.write(...Array.from({ length: 10 }, () => insert))
      if (walBytes() < before) emptied += 1
      before = walBytes()
    }
    return emptied
  }
  return { db, path, walBytes, write }
}

/** Takes long, and reads a table, so that it is in the -wal for as long. */
const longRead = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
  SELECT count(*) AS found FROM numbers WHERE EXISTS (SELECT 1 FROM texts WHERE id = 1)`

test('scans that follow each other without a break do not let it grow without end', async (t) => {
  const { db, write } = await open(t)
  let isOver = false
  let scans = 0
  async function scanOn(): Promise<void> {
    while (!isOver) {
      assert.deepEqual(await db.scan(longRead), [{ found: 10_000 }])
      scans += 1
    }
  }
  const scanning = Promise.all([scanOn(), scanOn(), scanOn()])
  let emptied = 0
  for (let i = 0; i < 30 && (emptied < 3 || scans <= 3); i++) emptied += await write(10)
  isOver = true
  await scanning
  assert.ok(scans > 3)
  assert.ok(emptied >= 3, `emptied ${emptied} times`)
})

test('it grows while somebody else reads for long, and shrinks afterwards', async (t) => {
  const { path, write, walBytes } = await open(t)
  const reader = new DatabaseSync(path)
  t.after(() => reader.close())
  reader.exec('BEGIN; SELECT count(*) FROM texts')
  assert.equal(await write(20), 0)
  assert.ok(walBytes() > 15 * megabyte)
  reader.exec('COMMIT')
  // The writer looks at the size every few commits.
  for (let i = 0; i < 100 && walBytes() > maxWalBytes; i++) await write(1)
  assert.ok(walBytes() <= maxWalBytes, `${walBytes()} bytes`)
})
