/** PostgreSQL databases that cannot be used as they are: `restore` and `move` say what `start` says. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runOnServer } from '../../src/testing/databases.ts'
import { run, shareArchive } from '../support/archive-commands.ts'
import { createDatabaseUrl, engines, temporaryFolder, testServer } from '../support/databases.ts'
import { findingOf, good } from '../support/doctor.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { createEncoded, createWith, setDefaults } from '../support/unusual-databases.ts'

const shared = shareArchive()

/** The URL of a new database for a role that may connect, and no more. */
async function createForStranger(t: TestContext): Promise<{ url: string; owner: string; role: string }> {
  const owner = await createDatabaseUrl(t, 'postgres')
  const role = `stranger-${randomBytes(6).toString('hex')}`
  await runOnServer(owner, `REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE "${role}" LOGIN`)
  // The database, and with it what was granted there, is dropped before.
  t.after(() => runOnServer(testServer('TEST_DATABASE_URL'), `DROP ROLE "${role}"`))
  return { url: Object.assign(new URL(owner), { username: role }).href, owner, role }
}

if (engines.includes('postgres')) {
  const unsuitable: [string, (t: TestContext) => Promise<string>, number][] = [
    ['in SQL_ASCII', (t) => createEncoded(t, 'SQL_ASCII'), 65],
    ['that is read-only', (t) => createWith(t, { default_transaction_read_only: 'on' }), 69],
    ['without a schema', (t) => createWith(t, { search_path: 'nowhere' }), 65],
    ['of somebody else', async (t) => (await createForStranger(t)).url, 65],
  ]
  for (const [title, create, exitCode] of unsuitable) {
    test(`a database ${title} is refused by restore and move as by start, in one line`, async (t) => {
      const { url: source, archive } = await shared()
      const url = await create(t)
      const migrated = await run(url, 'migrate')
      assert.equal(migrated.code, exitCode, migrated.stderr)
      assert.match(migrated.stderr, /^latchkey: the [^\n]*\n$/)
      const started = await runLoaded(['start'], { env: { ...good, DATABASE_URL: url, PORT: '0' } })
      assert.deepEqual([started.code, started.stderr], [exitCode, migrated.stderr])
      assert.deepEqual(await run(url, 'restore', archive), migrated)
      assert.deepEqual(await run(source, 'move', '--to', url), migrated)
    })
  }

  test('a role that may not create tables is told what to grant, also by doctor; then everything works', async (t) => {
    const { archive } = await shared()
    const { url, owner, role } = await createForStranger(t)
    const env = { ...good, DATABASE_URL: url }
    const grant = `GRANT CREATE ON SCHEMA public TO "${role}"`
    const { stderr } = await run(url, 'restore', archive)
    assert.match(stderr, /may not create tables in its schema/)
    assert.ok(stderr.includes(`run ${grant} as the owner`), stderr)
    const [status, text] = await findingOf('database_state', env)
    assert.equal(status, 'problem')
    assert.ok(text.includes(grant), text)
    assert.match(
      (await findingOf('migrations', env)).join(' '),
      /^problem the database is new, and no migration can be/,
    )
    await runOnServer(owner, grant)
    assert.equal((await findingOf('database_state', env))[0], 'ok')
    assert.match((await findingOf('migrations', env)).join(' '), /^ok .* the first start applies all migrations/)
    const restored = await run(url, 'restore', archive)
    assert.deepEqual([restored.code, restored.stderr], [0, ''])
  })

  test('a backup of a database without a schema names the search_path; one that is read-only is backed up', async (t) => {
    const url = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
    const file = join(temporaryFolder(t), 'test.archive')
    await setDefaults(url, { default_transaction_read_only: 'on' })
    assert.equal((await run(url, 'backup', file)).code, 0)
    const moved = await run(url, 'move', '--to', await createDatabaseUrl(t, 'sqlite'))
    assert.deepEqual([moved.code, moved.stderr], [0, ''])
    await setDefaults(url, { search_path: 'nowhere' })
    const { code, stderr } = await run(url, 'backup', '--force', file)
    assert.equal(code, 65)
    assert.match(stderr, /^latchkey: the search_path of the database [^\n]* names no schema [^\n]*\n$/)
  })
}
