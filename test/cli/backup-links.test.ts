/** restore and move to a SQLite path that is a symbolic link. */
import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { run, shareArchive } from '../support/archive-commands.ts'
import { placeOf, tablesIn, tablesOfDatabase } from '../support/archives.ts'
import { temporaryFolder } from '../support/databases.ts'

const shared = shareArchive(10)

/** `latchkey.db` leads to `disk/real.db` by way of a second link in another folder. */
function createLinks(t: TestContext) {
  const folder = temporaryFolder(t)
  for (const name of ['disk', 'links']) mkdirSync(join(folder, name))
  const link = join(folder, 'latchkey.db')
  symlinkSync('links/second.db', link)
  symlinkSync('../disk/real.db', join(folder, 'links', 'second.db'))
  return { folder, link, real: join(folder, 'disk', 'real.db') }
}

function assertLinksKept({ folder, link }: ReturnType<typeof createLinks>): void {
  assert.equal(readlinkSync(link), 'links/second.db')
  assert.ok(lstatSync(join(folder, 'links', 'second.db')).isSymbolicLink())
  assert.deepEqual(readdirSync(folder).toSorted(), ['disk', 'latchkey.db', 'links'])
  assert.deepEqual(readdirSync(join(folder, 'links')), ['second.db'])
  assert.deepEqual(
    readdirSync(join(folder, 'disk')).filter((name) => name !== 'real.db.lock'),
    ['real.db'],
  )
}

test('restore replaces the file that a link leads to, and keeps the link', async (t) => {
  const { archive } = await shared()
  const links = createLinks(t)
  const url = `file:${links.link}`
  assert.equal((await run(url, 'products:seed', '--count', '3', '--quiet')).code, 0)
  const before = statSync(links.real).ino
  const { code, stderr } = await run(url, 'restore', '--replace', archive)
  assert.deepEqual([code, stderr], [0, ''])
  assertLinksKept(links)
  assert.notEqual(statSync(links.real).ino, before)
  assert.equal(statSync(links.real).mode & 0o777, 0o600)
  assert.deepEqual(await tablesOfDatabase(t, placeOf(`file:${links.real}`)), await tablesIn(archive))
})

test('a link to a file that does not exist yet: restore and move make that file', async (t) => {
  const { archive, url } = await shared()
  const restored = createLinks(t)
  const { code, stderr } = await run(`file:${restored.link}`, 'restore', archive)
  assert.deepEqual([code, stderr], [0, ''])
  assertLinksKept(restored)
  const moved = createLinks(t)
  const ended = await run(url, 'move', '--to', `file:${moved.link}`)
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
  assertLinksKept(moved)
  assert.deepEqual(await tablesOfDatabase(t, placeOf(`file:${moved.real}`)), await tablesIn(archive))
})

test('a link to a file that another process has open is refused', async (t) => {
  const { archive } = await shared()
  const links = createLinks(t)
  await run(`file:${links.real}`, 'migrate')
  const open = new DatabaseSync(links.real)
  open.exec('BEGIN; SELECT * FROM users')
  const { code, stderr } = await run(`file:${links.link}`, 'restore', '--replace', archive)
  open.close()
  assert.equal(code, 69)
  assert.match(stderr, /real\.db is in use by another process/)
  assertLinksKept(links)
})

test('a link in a circle, and one to the configured database, get one line', async (t) => {
  const { archive } = await shared()
  const links = createLinks(t)
  const circle = join(links.folder, 'links', 'circle.db')
  symlinkSync('circle.db', circle)
  const { code, stderr } = await run(`file:${circle}`, 'restore', archive)
  assert.equal(code, 73, stderr)
  assert.match(stderr, /^latchkey: cannot open the database file .*circle\.db: ELOOP[^\n]*\n$/)
  // Also while the file is not there yet.
  const itself = await run(
    `file:${realpathSync(join(links.folder, 'disk'))}/real.db`,
    'move',
    '--to',
    `file:${links.link}`,
  )
  assert.equal(itself.code, 64)
  assert.match(itself.stderr, /names the configured database itself/)
})
