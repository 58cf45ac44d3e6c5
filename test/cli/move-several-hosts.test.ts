/** `move` from and to a PostgreSQL URL with several hosts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../support/archive-commands.ts'
import { placeOf, tablesOfDatabase } from '../support/archives.ts'
import { createDatabaseUrl, engines } from '../support/databases.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { freePort } from '../support/servers.ts'
import { isFull } from '../support/tiers.ts'

/** The same database, as the second of two hosts. Nobody listens at the first. */
async function withSecondHost(url: string): Promise<string> {
  const { username, host, pathname } = new URL(url)
  return `postgres://${username}@127.0.0.1:${await freePort()},${host}${pathname}?target_session_attrs=read-write`
}

if (engines.includes('postgres')) {
  test('a database with several hosts is moved to, moved from, and recognised as the configured one', async (t) => {
    const first = await createDatabaseUrl(t, 'sqlite', { isMigrated: true })
    const postgres = await createDatabaseUrl(t, 'postgres')
    const several = await withSecondHost(postgres)
    const last = await createDatabaseUrl(t, 'sqlite')
    await run(first, 'products:seed', '--count', '10', '--quiet')
    const before = await tablesOfDatabase(t, placeOf(first))

    const there = await run(first, 'move', '--to', several)
    assert.deepEqual([there.code, there.stderr], [0, ''])
    assert.deepEqual(await tablesOfDatabase(t, placeOf(postgres)), before)

    const itself = await run(several, 'move', '--to', postgres)
    assert.equal(itself.code, 64)
    assert.match(itself.stderr, /^latchkey: --to names the configured database itself\n$/)

    const back = await run(several, 'move', '--to', last)
    assert.deepEqual([back.code, back.stderr], [0, ''])
    assert.deepEqual(await tablesOfDatabase(t, placeOf(last)), before)
  })
}

if (isFull) {
  test('the configured database under another address is recognised at once, and another one on the server is not', async (t) => {
    const url = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
    const pooler = await startPgBouncer(t, url, 'transaction')
    const renamed = Object.assign(new URL(url), { hostname: 'localhost' }).href
    assert.notEqual(new URL(renamed).host, new URL(url).host)
    for (const [from, to] of [
      [url, renamed],
      [renamed, url],
      [url, pooler.url],
    ] as const) {
      const itself = await run(from, 'move', '--replace', '--to', to)
      assert.deepEqual([itself.code, itself.stderr], [64, 'latchkey: --to names the configured database itself\n'])
    }
    const moved = await run(renamed, 'move', '--to', await createDatabaseUrl(t, 'postgres'))
    assert.deepEqual([moved.code, moved.stderr], [0, ''])
  })
}

test('a wrong list of hosts is refused with the reason, without its password', async (t) => {
  const { code, stderr } = await run(
    await createDatabaseUrl(t, 'sqlite'),
    'move',
    '--to',
    'postgres://user:hush@one,,two/shop',
  )
  assert.equal(code, 64)
  assert.match(stderr, /^latchkey: --to must be a PostgreSQL URL as libpq reads it: one of the hosts has no name\n$/)
})
