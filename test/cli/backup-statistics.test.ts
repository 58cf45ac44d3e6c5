/** Statistics of the planner after a restore or a move to PostgreSQL: made for our own tables, and not worth a failure. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { run, shareArchive } from '../support/archive-commands.ts'
import { placeOf, tablesIn, tablesOfDatabase } from '../support/archives.ts'
import { createDatabaseUrl, engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { testInFull } from '../support/test-in-full.ts'
import { chosen, isFull } from '../support/tiers.ts'

const shared = shareArchive(500)

async function connect(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

const analyzed = "SELECT relname FROM pg_class WHERE relname IN ('products', 'foreign_table') AND reltuples > 0"

if (engines.includes('postgres')) {
  test('a table of somebody else is not analyzed, so that a lock on it holds nothing up', async (t) => {
    const { archive } = await shared()
    const url = await createDatabaseUrl(t, 'postgres')
    const other = await connect(t, url)
    await other.query('CREATE TABLE foreign_table AS SELECT 1 AS one')
    await other.query('BEGIN; LOCK TABLE foreign_table')
    const { code, stderr } = await run(url, 'restore', archive)
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual((await other.query(analyzed)).rows, [{ relname: 'products' }])
  })

  testInFull('a lock on our own tables: everything is restored, and the warning names ANALYZE', async (t) => {
    const { archive, url: source } = await shared()
    const url = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
    const commands = [
      ['restored', 'restore', '--replace', archive],
      ['moved', 'move', '--replace', '--to', url],
    ] as const
    for (const [word, ...args] of chosen(commands, ([, name]) => name === 'restore')) {
      const other = await connect(t, url)
      const ended = run(args[0] === 'move' ? source : url, ...args)
      // Waits for the lock that the command has on the table until its commit, and is then before its ANALYZE.
      await untilLoading(other)
      await other.query('BEGIN; LOCK TABLE products IN SHARE UPDATE EXCLUSIVE MODE')
      const { code, stdout, stderr } = await ended
      await other.query('ROLLBACK')
      assert.equal(code, 0, stderr)
      assert.match(stdout, new RegExp(`^${word} [\\d,]+ rows`))
      assert.match(
        stderr,
        new RegExp(`^everything is ${word}, but [^\\n]*lock timeout[^\\n]*: run ANALYZE [^\\n]*\\n$`),
      )
      assert.deepEqual(await tablesOfDatabase(t, placeOf(url)), await tablesIn(archive))
    }
  })
}

if (isFull) {
  test('a connection that is lost after the commit: a warning too', async (t) => {
    const { archive } = await shared()
    const url = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
    const other = await connect(t, url)
    const ended = run(url, 'restore', '--replace', archive)
    await untilLoading(other)
    await other.query('BEGIN; LOCK TABLE products IN SHARE UPDATE EXCLUSIVE MODE')
    await other.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'latchkey archive' AND datname = current_database()`,
    )
    await other.query('ROLLBACK')
    const { code, stderr } = await ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^everything is restored, but [^\n]*: run ANALYZE [^\n]*\n$/)
    assert.deepEqual(await tablesOfDatabase(t, placeOf(url)), await tablesIn(archive))
  })
}

/** Waits until the restore holds the table. */
async function untilLoading(client: pg.Client): Promise<void> {
  // Databases from one template have the same numbers for their tables.
  const held = `
    SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database AND datname = current_database()
    WHERE relation = to_regclass('products') AND mode = 'AccessExclusiveLock' AND granted`
  await eventually(async () => assert.equal((await client.query(held)).rows.length, 1))
}
