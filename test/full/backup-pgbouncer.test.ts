/** Archives behind PgBouncer, which keeps connections of a service that has stopped, and hands them to other clients. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { runOnServer } from '../../src/testing/databases.ts'
import { startApi } from '../support/api.ts'
import { run, shareArchive } from '../support/archive-commands.ts'
import { createDatabaseUrl, engines, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'

const shared = shareArchive()

async function connect(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name })
  await client.connect()
  return client
}

async function startBehind(t: TestContext, settings: Record<string, string | number> = {}) {
  const direct = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
  const { username } = new URL(direct)
  const { url } = await startPgBouncer(t, direct, 'transaction', { admin_users: username, ...settings })
  return { direct, url, console: Object.assign(new URL(url), { pathname: '/pgbouncer' }).href }
}

/** Makes PgBouncer close the connections that it keeps. */
const reconnect = (console: string) => runOnServer(console, 'RECONNECT')

/** Waits until a service has said that it is there. */
const waitForNode = (direct: string) =>
  runOnServer(direct, (client) =>
    eventually(async () => assert.equal((await client.query('SELECT 1 FROM service_nodes')).rows.length, 1)),
  )

if (engines.includes('postgres')) {
  test('connections that PgBouncer keeps for a stopped service: the refusal says how to close them', async (t) => {
    const { direct, url, console } = await startBehind(t)
    const { archive: file } = await shared()
    // Three at once, so that three are kept.
    const clients = await Promise.all([1, 2, 3].map(() => connect(url, 'latchkey')))
    for (const client of clients) await client.query('BEGIN')
    const busy = await run(direct, 'restore', '--replace', file)
    assert.equal(busy.code, 69)
    assert.match(busy.stderr, /is in use: a service has 3 connections to it: stop the service first\n$/)
    for (const client of clients) await client.query('COMMIT')
    for (const client of clients) await client.end()

    const advice = /stop the service first\. If it is stopped, a pooler .*: RECONNECT in its console closes them\n$/
    for (const from of [url, direct]) {
      const { code, stderr } = await run(from, 'restore', '--replace', file)
      assert.equal(code, 69)
      assert.match(stderr, advice)
    }
    const moved = await run(direct, 'move', '--to', await createDatabaseUrl(t, 'sqlite'))
    assert.equal(moved.code, 69)
    assert.match(moved.stderr, advice)

    await reconnect(console)
    const restored = await run(url, 'restore', '--replace', file)
    assert.deepEqual([restored.code, restored.stderr], [0, ''])
  })

  test('a service that is idle behind PgBouncer is seen, though the pooler gives its connection away', async (t) => {
    const { direct, url } = await startBehind(t, { default_pool_size: 1 })
    const { archive: file } = await shared()
    const api = await startApi(t, { env: { DATABASE_URL: url } })
    await waitForNode(direct)
    const { code, stderr } = await run(url, 'restore', '--replace', file)
    assert.equal(code, 69)
    assert.match(stderr, /is in use: a node was there in the last 90 seconds: stop the service first/)
    await api.close()
    const restored = await run(url, 'restore', '--replace', file)
    assert.deepEqual([restored.code, restored.stderr], [0, ''])
  })

  test('a service is seen whatever its connections are called, and also if the pooler has just closed them', async (t) => {
    const { direct, url, console } = await startBehind(t, { application_name_add_host: 1 })
    const { archive: file } = await shared()
    const client = await connect(url, 'latchkey')
    await client.query('BEGIN')
    const busy = await run(direct, 'restore', '--replace', file)
    assert.match(busy.stderr, /is in use: a service has 1 connections to it/)
    await client.end()

    const named = Object.assign(new URL(direct), { search: '?application_name=shop' }).href
    for (const from of [named, url]) {
      const api = await startApi(t, { env: { DATABASE_URL: from } })
      await waitForNode(direct)
      await reconnect(console)
      for (const args of [
        ['restore', '--replace', file],
        ['move', '--to', await createDatabaseUrl(t, 'sqlite')],
      ]) {
        const { code, stderr } = await run(direct, ...args)
        assert.deepEqual([code, /stop the service first/.test(stderr)], [69, true], `${args[0]}: ${stderr}`)
      }
      await api.close()
    }
    await reconnect(console)
    // RECONNECT may have interrupted a connection that PgBouncer was opening. Then it refuses its clients for a while, and
    // the service could not say that it ends.
    await runOnServer(direct, 'DELETE FROM service_nodes')
    const moved = await run(direct, 'move', '--to', await createDatabaseUrl(t, 'sqlite'))
    assert.equal(moved.code, 0, moved.stderr)
  })

  test('the settings of backup and restore are not left to the other clients of the pooler', async (t) => {
    const { url } = await startBehind(t, { default_pool_size: 1 })
    const readSettings = async () => {
      const client = await connect(url, 'test')
      const { rows } = await client.query(
        `SELECT current_setting('lock_timeout') AS lock, current_setting('jit') AS jit,
           current_setting('idle_in_transaction_session_timeout') AS idle`,
      )
      await client.end()
      return rows
    }
    const before = await readSettings()
    const { archive: file } = await shared()
    assert.equal((await run(url, 'restore', '--replace', file)).code, 0)
    assert.deepEqual(await readSettings(), before)
    assert.equal((await run(url, 'backup', join(temporaryFolder(t), 'again.archive'))).code, 0)
    assert.deepEqual(await readSettings(), before)
  })
}
