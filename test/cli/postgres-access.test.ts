/** A PostgreSQL that asks for a password, or that limits the connections of a role or a database. */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { createDatabaseUrl, engines, temporaryFolder } from '../support/databases.ts'
import { findingOf, good } from '../support/doctor.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { startPrivatePostgres } from '../support/private-servers.ts'

const methods = ['scram-sha-256', 'md5', 'password']

/** Asks roles that are named like a method for a password in that way. The owner needs none. */
async function startAsking(t: TestContext) {
  const folder = temporaryFolder(t)
  const file = join(folder, 'pg_hba.conf')
  const lines = [...methods.map((name) => `host all "${name}" all ${name}`), 'host all all all trust']
  writeFileSync(file, `${lines.join('\n')}\n`)
  // The server runs as another user.
  chmodSync(folder, 0o755)
  chmodSync(file, 0o644)
  const server = await startPrivatePostgres(t, { hba_file: file })
  const as = (user: string) => Object.assign(new URL(server.url), { username: user }).href
  return { ...server, as }
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const sql of statements) await client.query(sql)
  await client.end()
}

if (engines.includes('postgres')) {
  test('the server asks for a password and the URL has none: one line that says so, from every command', async (t) => {
    const { url, as } = await startAsking(t)
    await run(url, ...methods.map((name) => `CREATE ROLE "${name}" LOGIN PASSWORD 'Correct-Horse-1'`))
    const why = 'the server asks for a password, and the URL has none: add it, or put it into ~/.pgpass or PGPASSWORD'
    for (const method of methods) {
      const ended = await runLoaded(['migrate'], { env: { DATABASE_URL: as(method) } })
      assert.deepEqual([ended.code, ended.stderr.split('/postgres: ')[1]], [69, `${why}\n`], ended.stderr)
    }
    const asked = as('scram-sha-256')
    const env = { ...good, DATABASE_URL: asked }
    const file = await createDatabaseUrl(t, 'sqlite')
    await runLoaded(['migrate'], { env: { DATABASE_URL: file } })
    const archive = `${file.slice('file:'.length)}.archive`
    await runLoaded(['backup', archive], { env: { DATABASE_URL: file } })
    for (const [args, DATABASE_URL] of [
      [['start'], asked],
      [['backup', `${archive}.2`], asked],
      [['restore', archive], asked],
      [['move', '--to', asked], file],
    ] as const) {
      const { code, stderr } = await runLoaded([...args], { env: { ...good, DATABASE_URL } })
      assert.equal(code, 69, `${args.join(' ')}: ${stderr}`)
      assert.ok(stderr.includes(why), stderr)
    }
    assert.ok((await findingOf('database', env)).join(' ').includes(why))
    const wrong = Object.assign(new URL(asked), { password: 'wrong' }).href
    const refused = await runLoaded(['migrate'], { env: { DATABASE_URL: wrong } })
    assert.match(refused.stderr, /password authentication failed for user/)
  })

  test('doctor knows the connection limits of the role and of the database, and that none holds for superusers', async (t) => {
    const { url, as } = await startAsking(t)
    await run(url, 'CREATE ROLE ada LOGIN CONNECTION LIMIT 3', 'CREATE ROLE ben LOGIN', 'CREATE DATABASE shop')
    const check = (from: string) => findingOf('database_connections', { ...good, DATABASE_URL: from, THREADS: '1' })
    const shopOf = (user: string) => Object.assign(new URL(as(user)), { pathname: '/shop' }).href
    assert.deepEqual(await check(as('ada')), [
      'problem',
      'a node needs 13 connections, the role ada may have 3: raise its CONNECTION LIMIT, lower THREADS, or lower DATABASE_POOL_SIZE',
    ])
    assert.match((await check(shopOf('ben'))).join(' '), /^ok a node needs up to 13 of \d+ connections of the server$/)
    await run(url, 'ALTER DATABASE shop CONNECTION LIMIT 5')
    assert.match(
      (await check(shopOf('ben'))).join(' '),
      /^problem .* the database shop may have 5: raise its CONNECTION/,
    )
    assert.match((await check(shopOf('ada'))).join(' '), /^problem .* the role ada may have 3: /)
    await run(url, 'ALTER ROLE latchkey CONNECTION LIMIT 3')
    assert.equal((await check(shopOf('latchkey')))[0], 'ok')
    await run(url, 'ALTER ROLE ada CONNECTION LIMIT 20')
    assert.equal((await check(as('ada'))).join(' '), 'ok a node needs up to 13 of 20 connections of the role ada')
  })
}
