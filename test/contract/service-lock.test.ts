/** The lock that keeps a second service off a SQLite file. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isServiceRunning, lockBesideService, lockForService } from '../../src/platform/database/sqlite/service-lock.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/databases.ts'

const lockModule = new URL('../../src/platform/database/sqlite/service-lock.ts', import.meta.url).href
const isRefused = { name: 'FatalError', exitCode: 69, message: /is served by another Latchkey process/ }

/** Another process that holds the lock until it is killed. */
async function holdElsewhere(t: TestContext, path: string) {
  const code = `const { lockForService } = await import(${JSON.stringify(lockModule)})
    lockForService(process.argv[1]); console.log('held'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return {
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('a file is served by one process at a time; kill -9 leaves no stale lock', async (t) => {
  const path = join(temporaryFolder(t), 'new', 'test.db')
  assert.equal(isServiceRunning(path), false)
  assert.equal(existsSync(`${path}.lock`), false, 'asking creates nothing')
  const other = await holdElsewhere(t, path)
  assert.equal(isServiceRunning(path), true)
  assert.throws(() => lockForService(path), isRefused)
  await other.kill()
  assert.equal(isServiceRunning(path), false)
  const lock = lockForService(path)
  assert.equal(statSync(`${path}.lock`).mode & 0o777, 0o600)
  lock.release()
})

test('the lock outlives questions, refusals and databases that are opened and closed in the same process', async (t) => {
  const path = join(temporaryFolder(t), 'test.db')
  const lock = lockForService(path)
  t.after(() => lock.release())
  assert.throws(() => lockForService(path), isRefused)
  assert.equal(isServiceRunning(path), true)
  const db = openSqlite({ path, observe: () => {}, log: undefined })
  await db.close()
  const code = `const { isServiceRunning } = await import(${JSON.stringify(lockModule)})
    process.exitCode = isServiceRunning(process.argv[1]) ? 10 : 20`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, path], { stdio: 'inherit' })
  assert.deepEqual(await once(child, 'exit'), [10, null])
})

test('processes that share everything by Redis serve beside one service, and count as running', (t) => {
  const path = join(temporaryFolder(t), 'test.db')
  const beside = lockBesideService(path)
  const service = lockForService(path)
  const another = lockBesideService(path)
  assert.throws(() => lockForService(path), isRefused)
  service.release()
  beside.release()
  assert.equal(isServiceRunning(path), true)
  another.release()
  assert.equal(isServiceRunning(path), false)
})

test('a link to the file is the same file', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'test.db')
  const lock = lockForService(path)
  t.after(() => lock.release())
  mkdirSync(join(folder, 'elsewhere'))
  const link = join(folder, 'elsewhere', 'link.db')
  symlinkSync(path, link)
  assert.throws(() => lockForService(link), isRefused)
})

test('a file with two names is refused under both, because each name has its own -wal; one name is enough', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'test.db')
  lockForService(path).release()
  const other = join(folder, 'other.db')
  linkSync(path, other)
  const hasTwoNames = { name: 'FatalError', exitCode: 73, message: /has 2 names \(hard links\).*symbolic link/ }
  for (const name of [path, other]) {
    assert.throws(() => lockForService(name), hasTwoNames)
    assert.throws(() => lockBesideService(name), hasTwoNames)
    assert.throws(() => openSqlite({ path: name, observe: () => {}, log: undefined }), hasTwoNames)
  }
  assert.equal(existsSync(`${other}.lock`), false)
  rmSync(other)
  lockForService(path).release()
})

test('a folder in the place of the file is called one', (t) => {
  const path = join(temporaryFolder(t), 'test.db')
  mkdirSync(path)
  const isFolder = { name: 'FatalError', exitCode: 73, message: /test\.db: EISDIR\. It is a folder; .* a file$/ }
  assert.throws(() => lockForService(path), isFolder)
  assert.throws(() => lockBesideService(path), isFolder)
  assert.throws(() => openSqlite({ path, observe: () => {}, log: undefined }), isFolder)
})
