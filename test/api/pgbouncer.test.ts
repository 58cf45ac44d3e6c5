/** The service behind PgBouncer. test/contract/database.test.ts runs the contract of the database behind it too. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { AppError } from '../../src/core/app-error.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { runOnServer } from '../../src/testing/databases.ts'
import { type Api, type Owner, share, startApi } from '../support/api.ts'
import { createDatabaseUrl, engines, testServer } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { open } from '../support/owners-schema.ts'
import { signIn } from '../support/people.ts'
import { type PoolMode, startPgBouncer } from '../support/pgbouncer.ts'
import { lamp, productsPath } from '../support/products.ts'
import { amount } from '../support/tiers.ts'
import { startWatchingApi } from '../support/watched-connections.ts'

/** More requests at once than there are server connections, with reads, single writes and batches of every kind. */
async function useAll(api: Api, access: string): Promise<void> {
  const responses = await Promise.all(
    Array.from({ length: amount({ full: 12, otherwise: 5 }) }, () => [
      api.post(productsPath, lamp, access),
      api.get('/me', access),
      api.get(`${productsPath}?q=lamp`),
      send(api, 'mutation { createPost(title: "A", body: "B") }'),
    ]).flat(),
  )
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 201]))
}

async function startBehind(t: Owner, mode: PoolMode, { isMigrated = true } = {}) {
  const direct = await createDatabaseUrl(t, 'postgres', { isMigrated })
  const pooler = await startPgBouncer(t, direct, mode, { default_pool_size: 6 })
  return { direct, pooler }
}

const cannotListen = /DATABASE_URL is a pooler that shares connections.*within ten seconds.*DATABASE_LISTEN_URL/

async function ask(url: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return String(rows[0])
  } finally {
    await client.end()
  }
}

if (engines.includes('postgres')) {
  describe('behind PgBouncer', { concurrency: 2 }, () => {
    const pooled = share((owner) => startBehind(owner, 'transaction'))

    test('with session pooling and its own default settings, everything works, notifications included', async (t) => {
      const { pooler } = await startBehind(t, 'session')
      let db: Database | undefined
      const api = await startApi(t, {
        env: { DATABASE_URL: pooler.url, DATABASE_POOL_SIZE: '3' },
        extend: (_app, parts) => {
          db = parts.db
        },
      })
      const { access } = await signIn(api)
      await useAll(api, access)
      assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' })
      assert.match((await api.get('/metrics')).body, /^dependency_up\{dependency="notifications"\} 1$/m)
      assert.doesNotMatch(api.log.join(''), cannotListen)

      // Nothing is known of the change but that prepared statements are no longer where they were.
      assert.equal(db?.isTransactionPooled?.(), false)
      pooler.setMode('transaction')
      await eventually(async () => {
        await useAll(api, access)
        assert.equal(db?.isTransactionPooled?.(), true)
      })
      // Only other traffic makes the pooler give the server connection of the session to somebody else.
      await eventually(async () => {
        await Promise.all([useAll(api, access), useAll(api, access)])
        assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok', degraded: ['notifications'] })
      })
    })

    test('with transaction pooling, nodes start at once, and no request fails', async (t) => {
      // Whose tables they create.
      const { pooler } = await startBehind(t, 'transaction', { isMigrated: false })
      const start = () => startApi(t, { env: { DATABASE_URL: pooler.url } })
      const [api, other] = await Promise.all([start(), start()])
      const { access } = await signIn(api)
      await Promise.all([useAll(api, access), useAll(other, access)])
      const settings = `SELECT current_setting('statement_timeout'), current_setting('jit')`
      assert.equal(await ask(pooler.url, settings), '0,on', 'other clients keep their settings')
    })

    test('with transaction pooling, settings of the database and time limits hold as they do without', async (t) => {
      const direct = await createDatabaseUrl(t, 'postgres')
      const name = new URL(direct).pathname.slice(1)
      for (const setting of ["DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'", "bytea_output = 'escape'"]) {
        await runOnServer(testServer('TEST_DATABASE_URL'), `ALTER DATABASE ${name} SET ${setting}`)
      }
      const { url } = await startPgBouncer(t, direct, 'transaction')
      const db = await open(t, 'postgres', { url, statementTimeoutSeconds: 1 })
      const row = await db.get(`SELECT '2026-01-02T03:04:05Z'::timestamptz AS at, '\\x00ff'::bytea AS bytes`)
      assert.deepEqual(row, { at: '2026-01-02T03:04:05.000Z', bytes: Buffer.from([0, 255]) })
      const isUnavailable = (error: unknown) => error instanceof AppError && error.status === 503
      await assert.rejects(db.scan('SELECT pg_sleep(20)'), isUnavailable)
      await assert.rejects(db.write({ sql: 'SELECT 1' }, { sql: 'SELECT pg_sleep(20)' }), isUnavailable)
    })

    test('with transaction pooling, a long statement is allowed to finish, and so is one that waits for it', async (t) => {
      const direct = await createDatabaseUrl(t, 'postgres')
      const { url } = await startPgBouncer(t, direct, 'transaction', { default_pool_size: 1 })
      const db = await open(t, 'postgres', { url, listenUrl: direct, poolSize: 2 })
      // The second one waits in the pooler, longer than a lost connection would be waited for.
      const long = Array.from({ length: 2 }, () => db.write({ sql: 'SELECT pg_sleep(4)' }))
      assert.equal((await Promise.all(long)).length, 2)
    })

    test('with transaction pooling, the start says what replaces notifications, and so it is', async (t) => {
      const { pooler } = await pooled()
      const env = { DATABASE_URL: pooler.url }
      const [one, two] = [await startWatchingApi(t, { env }), await startWatchingApi(t, { env })]
      assert.equal(one.log.filter((line) => cannotListen.test(line)).length, 1)
      const user = await one.signInAs('editor')
      const [here, there] = [await one.open(user.access), await two.open(user.access)]
      await one.post('/api/auth/logout', {}, user.access)
      assert.equal((await two.get('/me', user.access)).status, 401, 'requests see it at once')
      await eventually(() => assert.equal(here.ends, 1), byMessageMs)
      await eventually(() => assert.equal(there.ends, 1))
    })

    test('with a direct DATABASE_LISTEN_URL, access changes and topics reach other nodes at once', async (t) => {
      const { direct, pooler } = await pooled()
      const env = { DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: direct, GQL_PUBSUB: 'postgres' }
      const [one, two] = [await startWatchingApi(t, { env }), await startWatchingApi(t, { env })]
      assert.doesNotMatch(one.log.join(''), cannotListen)
      const user = await one.signInAs('editor')
      const there = await two.open(user.access)
      const heard: unknown[] = []
      await two.parts.topics.subscribe('news', (value) => heard.push(value))
      await one.parts.topics.publish('news', 'x'.repeat(20_000))
      await eventually(() => assert.deepEqual(heard, ['x'.repeat(20_000)]), byMessageMs)
      await one.post('/api/auth/logout', {}, user.access)
      await eventually(() => assert.equal(there.ends, 1), byMessageMs)
    })

    test('what cannot work behind it is refused at start, in one line', async (t) => {
      const { pooler } = await pooled()
      const statements = await startPgBouncer(t, await createDatabaseUrl(t, 'postgres'), 'statement')
      const env = { JWT_SECRET: 'a secret of more than thirty-two bytes', PORT: '0', GQL_WS_PORT: '0' }
      const refused: [Record<string, string>, number, RegExp][] = [
        [{ DATABASE_URL: pooler.url, GQL_PUBSUB: 'postgres' }, 78, /GQL_PUBSUB=postgres: the pooler in DATABASE_URL/],
        [{ DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: pooler.url }, 78, /database.listen_url must name PostgreSQL/],
        [{ DATABASE_URL: statements.url }, 69, /pools statements, so it has no transactions/],
      ]
      for (const [more, exitCode, message] of refused) {
        const { code, stderr } = await runLoaded(['start'], { env: { ...env, ...more } })
        assert.equal(code, exitCode, stderr)
        assert.match(stderr, message)
        assert.equal(stderr.trim().split('\n').length, 1, stderr)
      }
    })
  })
}
