/** Statistics of the planner after a restore or a move to PostgreSQL: made for our own tables, and not worth a failure. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { createArchive, run } from '../support/archive-commands.ts'
import { placeOf, tablesIn, tablesOfDatabase } from '../support/archives.ts'
import { createDatabaseUrl, engines } from '../support/databases.ts'

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
    const { archive } = await createArchive(t, 500)
    const url = await createDatabaseUrl(t, 'postgres')
    const other = await connect(t, url)
    await other.query('CREATE TABLE foreign_table AS SELECT 1 AS one')
    await other.query('BEGIN; LOCK TABLE foreign_table')
    const { code, stderr } = await run(url, 'restore', archive)
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual((await other.query(analyzed)).rows, [{ relname: 'products' }])
  })

  test('a lock on our own tables: everything is restored, and the warning names ANALYZE', async (t) => {
    const { archive, url: source } = await createArchive(t, 500)
    const url = await createDatabaseUrl(t, 'postgres')
    assert.equal((await run(url, 'migrate')).code, 0)
    for (const [word, ...args] of [
      ['restored', 'restore', '--replace', archive],
      ['moved', 'move', '--replace', '--to', url],
    ] as const) {
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

  test('a connection that is lost after the commit: a warning too', async (t) => {
    const { archive } = await createArchive(t, 500)
    const url = await createDatabaseUrl(t, 'postgres')
    assert.equal((await run(url, 'migrate')).code, 0)
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
  const held = `SELECT 1 FROM pg_locks WHERE relation = to_regclass('products') AND mode = 'AccessExclusiveLock' AND granted`
  while ((await client.query(held)).rows.length === 0);
}
