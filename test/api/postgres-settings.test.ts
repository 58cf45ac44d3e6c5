/** Databases with unusual defaults. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { runOnServer } from '../../src/testing/databases.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { signIn } from '../support/people.ts'
import { lamp, productsPath } from '../support/products.ts'
import { testInFull } from '../support/test-in-full.ts'
import { createEncoded, createWith } from '../support/unusual-databases.ts'

/**
 * Runs an update in an open transaction. Returns how many others wait for locks, and what commits it. The isolation level and the patience are its
 * own: with the database's, the service's updates could make this one fail.
 */
async function holdRow(url: string, update: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 0')
  await client.query(update)
  const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  return {
    async countWaiting(): Promise<number> {
      // Within a transaction, the first look at the activity is kept for all later ones.
      await client.query('SELECT pg_stat_clear_snapshot()')
      return (await client.query(waiting)).rows[0].n
    },
    async letGo(): Promise<void> {
      await client.query('COMMIT')
      await client.end()
    },
  }
}

const strange: Record<string, Record<string, string>> = {
  'another style of dates, intervals, bytes, floats and texts': {
    DateStyle: "'SQL, DMY'",
    IntervalStyle: 'sql_standard',
    TimeZone: "'Asia/Kolkata'",
    bytea_output: 'escape',
    extra_float_digits: '-15',
    standard_conforming_strings: 'off',
    client_encoding: 'LATIN1',
    transform_null_equals: 'on',
  },
  'another isolation level': { default_transaction_isolation: 'serializable', default_transaction_deferrable: 'on' },
  'an isolation level of repeatable reads': { default_transaction_isolation: "'repeatable read'" },
  'hardly any patience with locks': { lock_timeout: "'1ms'", statement_timeout: "'20s'" },
}

if (engines.includes('postgres')) {
  for (const [title, settings] of Object.entries(strange)) {
    // Of the isolation levels, the strictest one comes first.
    const declare = settings.default_transaction_isolation === "'repeatable read'" ? testInFull : test
    declare(`a database with ${title} is served like any other`, async (t) => {
      const url = await createWith(t, settings)
      // Two nodes start in parallel: one applies the migrations, the other finds them applied.
      const [api] = await Promise.all([1, 2].map(() => startApi(t, { env: { DATABASE_URL: url } })))
      assert.ok(api)
      const user = await signIn(api)
      const made = await api.post(productsPath, { ...lamp, name: 'Лампа \\ ä "\'', price: 0.3 }, user.access)
      assert.equal(made.status, 201)
      const { attributes } = made.body.data
      assert.deepEqual([attributes.name, attributes.price], ['Лампа \\ ä "\'', 0.3])
      const ageMs = Date.now() - Date.parse(attributes.created_at)
      assert.ok(Math.abs(ageMs) < 1_000_000, attributes.created_at)
      // Conflicts over the same rows are settled by the statements, not by serialization failures.
      const id = made.body.data.id
      const { countWaiting, letGo } = await holdRow(url, `UPDATE products SET stock = 1 WHERE id = ${id}`)
      const updating = Promise.all(
        Array.from({ length: 20 }, (_, stock) => api.put(`${productsPath}/${id}`, { stock }, user.access)),
      )
      await eventually(async () => assert.ok((await countWaiting()) > 0)).finally(letGo)
      const updates = await updating
      assert.deepEqual(new Set(updates.map(({ status }) => status)), new Set([200]))
      const posts = await Promise.all(
        Array.from({ length: 20 }, () => send(api, 'mutation { createPost(title: "A", body: "B") }')),
      )
      assert.equal(new Set(posts.map(({ body }) => body.data.createPost)).size, 20)
      assert.equal((await api.get(`${productsPath}?q=лампа`)).body.meta.total, 1)
    })
  }

  test('a search_path to another schema is used', async (t) => {
    const url = await createDatabaseUrl(t, 'postgres')
    const name = new URL(url).pathname.slice(1)
    await runOnServer(url, `CREATE SCHEMA app; ALTER DATABASE ${name} SET search_path = app`)
    const api = await startApi(t, { env: { DATABASE_URL: url } })
    const { access } = await signIn(api)
    assert.equal((await api.post(productsPath, lamp, access)).status, 201)
  })

  const refused: [string, (t: TestContext) => Promise<string>, number, RegExp][] = [
    ['in LATIN1', (t) => createEncoded(t, 'LATIN1'), 65, /is encoded in LATIN1, not in UTF8: create it with/],
    ['in SQL_ASCII', (t) => createEncoded(t, 'SQL_ASCII'), 65, /is encoded in SQL_ASCII, not in UTF8: create it with/],
    [
      'that is read-only',
      (t) => createWith(t, { default_transaction_read_only: 'on' }),
      69,
      /is read-only: .*default_transaction_read_only/,
    ],
    ['without a schema', (t) => createWith(t, { search_path: 'nowhere' }), 65, /search_path .* names no schema/],
  ]
  for (const [title, create, exitCode, message] of refused) {
    test(`a database ${title} is refused at start, in one line`, async (t) => {
      const { code, stderr } = await runLoaded(['migrate'], { env: { DATABASE_URL: await create(t) } })
      assert.equal(code, exitCode, stderr)
      assert.match(stderr, /^latchkey: the .*\n$/)
      assert.match(stderr, message)
      assert.equal(stderr.trim().split('\n').length, 1)
    })
  }
}
