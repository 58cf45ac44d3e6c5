/** A SQLite file that is damaged, removed, full or read-only under the service. */
import assert from 'node:assert/strict'
import { pbkdf2 } from 'node:crypto'
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Database } from '../../src/platform/database/database.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { type Api, startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { again, signIn } from '../support/people.ts'
import { latchkey } from '../support/process.ts'
import { lamp, productsPath } from '../support/products.ts'
import { testInFull } from '../support/test-in-full.ts'

const pageBytes = 4096
const hashSlowly = promisify(pbkdf2)

interface Infrastructure {
  api: Api
  file: string
  db: Database
}

async function start(t: TestContext, file = join(temporaryFolder(t), 'test.db')): Promise<Infrastructure> {
  let db: Database | undefined
  const api = await startApi(t, {
    env: { DATABASE_URL: `file:${file}` },
    extend: (_app, parts) => {
      db = parts.db
    },
  })
  assert.ok(db)
  return { api, file, db }
}

/** Overwrites the first page that contains the text, while the service is stopped. */
function damage(file: string, text: string): void {
  const found = readFileSync(file).indexOf(text)
  assert.ok(found > pageBytes, 'the text is in the file')
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, Math.floor(found / pageBytes) * pageBytes)
  closeSync(handle)
}

/** A service restarted on a file with one damaged page of products. */
async function startDamaged(t: TestContext) {
  const before = await start(t)
  const author = await signIn(before.api)
  const ids: number[] = []
  for (let i = 0; i < 12; i++) {
    const body = { ...lamp, name: `Lamp ${i}`, description: `unique-${i}-${'x'.repeat(3000)}` }
    ids.push((await before.api.post(productsPath, body, author.access)).body.data.id)
  }
  await before.api.app.close()
  // Checkpoint the WAL into the file.
  new DatabaseSync(before.file).close()
  damage(before.file, 'unique-6-')
  const { api, file, db } = await start(t, before.file)
  // Its clock is a different one, which may be behind.
  const user = await again(api, author)
  return { api, file, db, user, damagedId: ids[6] as number, soundId: ids[1] as number }
}

test('a damaged page: requests that need it are 503, the fault is logged once with instructions, everything else works', async (t) => {
  const { api, file, user, damagedId, soundId } = await startDamaged(t)
  assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' })
  for (let round = 0; round < 3; round++) {
    const response = await api.get(`${productsPath}/${damagedId}`)
    assert.deepEqual([response.status, response.body], [503, { error: 'Service unavailable' }])
    assert.ok(response.headers.get('retry-after'))
    // The event loop, the scan thread and the writer each hit it.
    assert.equal((await api.get(`${productsPath}?q=lamp`)).status, 503)
    assert.equal((await api.put(`${productsPath}/${damagedId}`, { stock: 5 }, user.access)).status, 503)
    const { body } = await send(api, `{ product(id: "${damagedId}") { name } }`)
    assert.equal(body.errors[0].extensions.code, 'SERVICE_UNAVAILABLE')

    assert.equal((await api.get(`${productsPath}/${soundId}`)).status, 200)
    assert.equal((await api.put(`${productsPath}/${soundId}`, { stock: round }, user.access)).status, 200)
    assert.equal((await api.get('/me', user.access)).status, 200)
    assert.equal((await api.post('/api/posts', { title: 'A', body: 'B' }, user.access)).status, 201)
  }
  const ready = await api.get('/health/ready')
  assert.deepEqual([ready.status, ready.body], [200, { status: 'ok', degraded: ['database'] }])
  const { body: metrics } = await api.get('/metrics')
  assert.match(metrics, /^dependency_up\{dependency="database"\} 0$/m)
  assert.match(metrics, /^database_write_failures_total\{cause="damaged"\} 3$/m)
  const lines = api.log.filter((line) => line.includes('malformed'))
  assert.equal(lines.length, 1, lines.join(''))
  assert.match(lines[0] ?? '', /is damaged/)
  assert.ok(lines[0]?.includes(`sqlite3 ${file} `) && lines[0].includes('PRAGMA integrity_check'))
})

testInFull('a write that hits a damaged page does not fail the others of the same commit', async (t) => {
  const { db, damagedId, soundId } = await startDamaged(t)
  const update = (id: number, stock: number) =>
    db.write({ sql: 'UPDATE products SET stock = $1 WHERE id = $2 RETURNING id', params: [stock, id] })
  const outcomes = await Promise.allSettled([update(soundId, 1), update(damagedId, 2), update(soundId, 3)])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await db.get('SELECT stock FROM products WHERE id = $1', [soundId]), { stock: 3 })
})

test('a damaged schema stops the start with one line that says what to do', async (t) => {
  const { api, file } = await start(t)
  await api.app.close()
  new DatabaseSync(file).close()
  damage(file, '0001-')
  const { code, stderr } = await latchkey(['migrate'], { env: { DATABASE_URL: `file:${file}` } })
  assert.equal(code, 65)
  assert.match(stderr, /^latchkey: the database file .* is damaged: .*integrity_check.*\n$/)
})

test('a removed or replaced file is noticed: writes are refused instead of lost, until it is back', async (t) => {
  const { api, file } = await start(t)
  const user = await signIn(api)
  assert.equal((await api.get('/health/ready')).status, 200)
  const aside = `${file}.aside`
  renameSync(file, aside)
  await eventually(async () => assert.equal((await api.get('/health/ready')).status, 503))
  const refused = await api.post(productsPath, lamp, user.access)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  assert.match((await api.get('/metrics')).body, /^database_write_failures_total\{cause="unavailable"\} [1-9]/m)
  assert.equal((await api.get('/me', user.access)).status, 200, 'reads are served')

  // Another file in its place is not the one that is open.
  new DatabaseSync(file).close()
  assert.equal((await api.post(productsPath, lamp, user.access)).status, 503)
  rmSync(file)
  renameSync(aside, file)
  await eventually(async () => assert.equal((await api.get('/health/ready')).status, 200))
  assert.equal((await api.post(productsPath, lamp, user.access)).status, 201)
  assert.equal(api.log.filter((line) => line.includes('removed or replaced while')).length, 1)
})

for (const swapped of ['', '-wal']) {
  testInFull(`a database${swapped} that is replaced right after it was opened is noticed, too`, async (t) => {
    const file = join(temporaryFolder(t), 'test.db')
    new DatabaseSync(file).close()
    // All file-system threads are busy, so no check happens before the swap.
    const busy = Array.from({ length: 16 }, () => hashSlowly('password', 'salt', 100_000, 64, 'sha512'))
    const db = openSqlite({ path: file, observe: () => {}, log: undefined })
    t.after(() => db.close())
    renameSync(file + swapped, `${file}.aside`)
    writeFileSync(file + swapped, '')
    await Promise.all(busy)
    await eventually(() => assert.rejects(db.checkWritable(), { status: 503 }))
  })
}

for (const isReplaced of [false, true]) {
  const what = isReplaced ? 'replaced' : 'removed'
  test(`a thread that starts while the file is ${what} does not take its -wal from the open one`, async (t) => {
    const file = join(temporaryFolder(t), 'test.db')
    const db = openSqlite({ path: file, observe: () => {}, log: undefined })
    t.after(() => db.close())
    await db.write({ sql: 'CREATE TABLE kept (id INTEGER)' }, { sql: 'INSERT INTO kept VALUES (1)' })
    const select = 'SELECT id FROM kept'
    renameSync(file, `${file}.aside`)
    if (isReplaced) writeFileSync(file, '')
    // The thread for scans starts with the first one.
    await assert.rejects(db.scan(select), { status: 503 })
    assert.deepEqual(await db.all(select), [{ id: 1 }])
    renameSync(`${file}.aside`, file)
    assert.deepEqual(await db.scan(select), [{ id: 1 }])
    await eventually(() => db.write({ sql: 'INSERT INTO kept VALUES (2)' }))
    assert.deepEqual(await db.all(select), [{ id: 1 }, { id: 2 }])
  })
}

test('on a full disk writes are 503 and nothing is lost, reads work, and it recovers once there is space', async (t) => {
  const { api, db } = await start(t)
  const user = await signIn(api)
  const id = (await api.post(productsPath, lamp, user.access)).body.data.id
  const [pages] = await db.all<{ page_count: number }>('PRAGMA page_count')
  assert.ok(pages)
  // SQLite then fails as on a full disk.
  await db.write({ sql: `PRAGMA max_page_count = ${pages.page_count}` })
  const long = { ...lamp, description: 'x'.repeat(100_000) }
  for (let i = 0; i < 3; i++) {
    const refused = await api.post(productsPath, long, user.access)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  }
  assert.equal((await api.get(`${productsPath}/${id}`)).status, 200)
  assert.match((await api.get('/metrics')).body, /^database_write_failures_total\{cause="full"\} 3$/m)
  // Writes that need no more space succeed.
  assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok', degraded: ['database'] })
  assert.equal(api.log.filter((line) => line.includes('no room is left')).length, 1)
  await db.write({ sql: 'PRAGMA max_page_count = 1000000' })
  assert.equal((await api.post(productsPath, long, user.access)).status, 201)
})

test('a disk with less than a megabyte free makes the service not ready until there is more', async (t) => {
  const { api } = await start(t)
  assert.equal((await api.get('/health/ready')).status, 200)
  let free = 1024 ** 2 - 4096
  t.mock.method(fs, 'statfs', async () => ({ bsize: 4096, blocks: 100_000, bavail: free / 4096 }))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  await eventually(async () => assert.equal((await api.get('/health/ready')).status, 503))
  assert.equal((await api.get('/health/live')).status, 200)
  const { body } = await api.get('/metrics')
  assert.match(body, /^service_ready 0$/m)
  assert.ok(body.includes(`database_disk_bytes{room="free"} ${free}\n`))
  await eventually(() => assert.ok(api.log.some((line) => line.includes('not ready') && line.includes('is full'))))
  free = 1024 ** 2
  await eventually(async () => assert.equal((await api.get('/health/ready')).status, 200))
})

testInFull('a read-only database makes the service not ready, and is logged once', async (t) => {
  const { api, db } = await start(t)
  const user = await signIn(api)
  assert.equal((await api.get('/health/ready')).status, 200)
  await db.write({ sql: 'PRAGMA query_only = ON' })
  await eventually(async () => assert.equal((await api.get('/health/ready')).status, 503))
  assert.equal((await api.post(productsPath, lamp, user.access)).status, 503)
  assert.match((await api.get('/metrics')).body, /^database_write_failures_total\{cause="read_only"\} [1-9]/m)
  assert.equal((await api.get('/me', user.access)).status, 200)
  assert.equal(api.log.filter((line) => line.includes('cannot be written')).length, 1)
  assert.equal(api.log.filter((line) => line.includes('not ready')).length, 1)
})
