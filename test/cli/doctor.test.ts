/** `latchkey doctor`: what it finds, its exit codes, and that it changes nothing. */
import assert from 'node:assert/strict'
import { chmodSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { checkClock } from '../../src/app/doctor/clock-check.ts'
import type { Finding } from '../../src/app/doctor/finding.ts'
import { createClock } from '../../src/core/clock.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, engines, onEachEngine, temporaryFolder, testServer } from '../support/databases.ts'
import { findingOf, findingsOf, good } from '../support/doctor.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { startSmtp } from '../support/mailbox.ts'
import { freePort } from '../support/servers.ts'

const bad = (findings: Finding[]) => findings.filter(({ status }) => status !== 'ok')

function snapshot(folder: string): object[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { mode, mtimeMs, size, ino } = statSync(join(folder, name))
    return { name, mode, mtimeMs, size, ino }
  })
}

async function newDatabase(t: TestContext): Promise<string> {
  return createDatabaseUrl(t, 'sqlite')
}

test('a configuration that production wants is fine in every line: exit code 0, and JSON on request', async (t) => {
  const mail = await startSmtp(t)
  const folder = temporaryFolder(t)
  const env = { ...good, MAIL_URL: mail.url, DATABASE_URL: `file:${join(folder, 'new.db')}` }
  const lines = await runLoaded(['doctor'], { env })
  assert.deepEqual([lines.code, lines.stderr], [0, ''], lines.stdout)
  for (const line of lines.stdout.trimEnd().split('\n')) assert.match(line, /^ok {7}\S/)
  assert.deepEqual(readdirSync(folder), [], 'it makes no database')
  const json = await runLoaded(['doctor', '--json'], { env: { ...env, CORS_ORIGINS: '*' } })
  assert.equal(json.code, 1, 'warnings')
  const { status, checks } = JSON.parse(json.stdout)
  assert.equal(status, 'warning')
  assert.deepEqual(
    bad(checks).map(({ id }) => id),
    ['cors_origins'],
  )
})

test('problems: exit code 2, each with what to do; an unreadable configuration: 78', async (t) => {
  const env = { NODE_ENV: 'production', DATABASE_URL: await newDatabase(t) }
  const { code, stdout } = await runLoaded(['doctor'], { env })
  assert.equal(code, 2)
  assert.match(stdout, /^problem {2}start refuses the configuration: JWT_SECRET is required/m)
  assert.match(stdout, /^problem {2}set JWT_SECRET: At least 32 random bytes/m)
  assert.match(stdout, /^warning {2}set MAIL_URL: /m)
  const broken = await runLoaded(['doctor'], { env: { ...env, PORT: 'many' } })
  assert.deepEqual([broken.code, broken.stdout], [78, ''])
  assert.match(broken.stderr, /^latchkey: PORT must be an integer/)
})

test('each setting that production should not have is found', async (t) => {
  const DATABASE_URL = await newDatabase(t)
  const cases: [change: Record<string, string>, id: string, status: string][] = [
    [{ NODE_ENV: 'development' }, 'node_env', 'problem'],
    [{ PUBLIC_URL: 'http://api.example.com' }, 'public_url', 'problem'],
    [{ JWT_SECRET: '' }, 'jwt_secret', 'problem'],
    [{ JWT_SECRET: 'change-me-change-me-change-me-change-me' }, 'jwt_secret_random', 'problem'],
    [{ JWT_SECRET: 'x'.repeat(40) }, 'jwt_secret_random', 'problem'],
    [{ JWT_SECRET: 'a secret that only the tests know and use' }, 'jwt_secret_random', 'problem'],
    [{ TRUSTED_PROXIES: '' }, 'trusted_proxies', 'warning'],
    [{ REFUSE_COMMON_PASSWORDS: 'false' }, 'refuse_common_passwords', 'warning'],
    [{ REGISTRATION: 'open' }, 'registration', 'warning'],
    [{ REGISTRATION: 'open' }, 'verify_email', 'warning'],
    [{ REGISTRATION: 'open' }, 'product_write_permission', 'warning'],
    [{ REGISTRATION: 'open', DEFAULT_ROLES: 'admin' }, 'default_roles', 'problem'],
    [{ BCRYPT_COST: '11' }, 'bcrypt_cost', 'warning'],
    [{ BCRYPT_COST: '8' }, 'bcrypt_cost', 'problem'],
    [{ CORS_ORIGINS: '*' }, 'cors_origins', 'warning'],
    [{ GQL_PLAYGROUND: 'true' }, 'playground', 'warning'],
    [{ METRICS_TOKEN: 'short' }, 'metrics_token', 'warning'],
    [{}, 'mail_url', 'warning'],
    [{ BACKUP_EVERY: '', BACKUP_FOLDER: '' }, 'backups', 'warning'],
  ]
  for (const [change, id, status] of cases) {
    const [found] = await findingOf(id, { ...good, DATABASE_URL, ...change })
    assert.equal(found, status, `${id} with ${JSON.stringify(change)}`)
  }
  assert.equal((await findingOf('default_roles', { ...good, DATABASE_URL, DEFAULT_ROLES: 'admin' }))[0], 'ok')
  const roles = { REGISTRATION: 'open', DEFAULT_ROLES: 'viewer' }
  assert.equal((await findingOf('default_roles', { ...good, DATABASE_URL, ...roles }))[0], 'ok')
})

onEachEngine('doctor and a database', (engine) => {
  test('that has been used: up to date, and unchanged by the check, running or stopped', async (t) => {
    const api = await startApi(t, { engine })
    const env = { ...good, DATABASE_URL: api.databaseUrl }
    const running = await findingsOf(env)
    assert.deepEqual(
      // The PostgreSQL of the tests runs without fsync.
      bad(running).filter(({ id }) => !['mail_url', 'pubsub', 'database_fsync'].includes(id)),
      [],
    )
    assert.match(running.find(({ id }) => id === 'migrations')?.text ?? '', /^all \d+ migrations are applied$/)
    await api.close()
    const folder = engine === 'sqlite' ? join(api.databaseUrl.slice('file:'.length), '..') : undefined
    const before = folder && snapshot(folder)
    assert.equal((await findingOf('migrations', env))[0], 'ok')
    if (folder) assert.deepEqual(snapshot(folder), before)
  })

  test('with pending migrations, or of a newer version', async (t) => {
    const api = await startApi(t, { engine })
    const env = { ...good, DATABASE_URL: api.databaseUrl }
    await run(api, 'DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations)')
    const [status, text] = await findingOf('migrations', env)
    assert.equal(status, 'warning')
    assert.match(text, /^pending: \d{4}-.*\.sql; the next start, or "latchkey migrate", applies them$/)
    await run(api, "INSERT INTO schema_migrations (name, checksum, applied_at) VALUES ('9999-future.sql', 'x', 'y')")
    const [newer, why] = await findingOf('migrations', env)
    assert.equal(newer, 'problem')
    assert.match(why, /newer than this program/)
  })
})

/** In the database of a service. */
async function run({ databaseUrl }: { databaseUrl: string }, sql: string): Promise<void> {
  if (databaseUrl.startsWith('file:')) {
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(databaseUrl.slice('file:'.length), { timeout: 10_000 })
    db.exec(sql)
    db.close()
    return
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(sql)
  await client.end()
}

test('a SQLite file that others can read, that is no database, or that has two names', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'open.db')
  writeFileSync(path, 'Dear Sir or Madam, this is not a database at all.\n'.repeat(50))
  chmodSync(path, 0o644)
  const env = { ...good, DATABASE_URL: `file:${path}` }
  const before = snapshot(folder)
  assert.match((await findingOf('database_mode', env)).join(' '), /^warning .* is readable by others: "chmod 600" it/)
  assert.match((await findingOf('database', env)).join(' '), /^problem .* cannot be read \(file is not a database\)/)
  assert.deepEqual(snapshot(folder), before)
  assert.match(readFileSync(path, 'utf8'), /^Dear Sir/)
  assert.equal((await findingOf('database_names', env))[0], 'ok')
  linkSync(path, join(folder, 'hard.db'))
  assert.match((await findingOf('database_names', env)).join(' '), /^problem .* has 2 names .*symbolic link$/)
  const above = join(folder, 'not', 'yet', 'there.db')
  assert.match(
    (await findingOf('database', { ...good, DATABASE_URL: `file:${above}` })).join(' '),
    /^ok .* does not exist/,
  )
})

test('a folder in the place of a SQLite file is called one, and is neither private nor linked', async (t) => {
  const env = { ...good, DATABASE_URL: `file:${temporaryFolder(t)}` }
  assert.match((await findingOf('database', env)).join(' '), /^problem .* is a folder; .* must name a file$/)
  for (const id of ['database_mode', 'database_names']) await assert.rejects(findingOf(id, env))
})

test('servers that cannot be reached are problems, told without passwords', async () => {
  const port = await freePort()
  const findings = await findingsOf({
    ...good,
    DATABASE_URL: `postgres://user:hush@127.0.0.1:${port}/x`,
    REDIS_URL: `redis://:hush@127.0.0.1:${port}`,
    MAIL_URL: `smtp://user:hush@127.0.0.1:${port}`,
  })
  for (const id of ['database', 'redis', 'mail_server']) {
    const found = findings.find((each) => each.id === id)
    assert.equal(found?.status, 'problem', id)
    assert.match(found?.text ?? '', /127\.0\.0\.1:\d+.*ECONNREFUSED/)
  }
  assert.doesNotMatch(JSON.stringify(findings), /hush/)
})

test('clocks that differ', () => {
  const clock = createClock(() => 1_000_000)
  assert.equal(checkClock('Redis', 1_001_000, clock).status, 'ok')
  assert.deepEqual(checkClock('Redis', 990_000, clock), {
    id: 'clock_redis',
    status: 'warning',
    text: 'the clock is 10.0 s off that of Redis: run an NTP client on both',
  })
  assert.equal(checkClock('PostgreSQL', 1_100_000, clock).status, 'problem')
})

if (engines.includes('postgres')) {
  test('PostgreSQL and Redis: versions, clocks, connections', async (t) => {
    const env = {
      ...good,
      DATABASE_URL: await createDatabaseUrl(t, 'postgres'),
      REDIS_URL: testServer('TEST_REDIS_URL'),
      GQL_PUBSUB: 'redis',
    }
    const findings = await findingsOf(env)
    const ids = findings.map(({ id }) => id)
    for (const id of ['clock_postgresql', 'clock_redis', 'database_state', 'database_encryption', 'redis', 'pubsub']) {
      assert.equal(findings[ids.indexOf(id)]?.status, 'ok', id)
    }
    assert.match(findings[ids.indexOf('database')]?.text ?? '', /^PostgreSQL \d\d\.\d+ at /)
    assert.match(findings[ids.indexOf('migrations')]?.text ?? '', /^the database is new/)
    const [pool, text] = await findingOf('database_connections', { ...env, DATABASE_POOL_SIZE: '1000' })
    assert.equal(pool, 'problem')
    assert.match(text, /lower DATABASE_POOL_SIZE$/)
    assert.equal((await findingOf('pubsub', { ...env, GQL_PUBSUB: 'in_memory' }))[0], 'warning')
  })

  test('PostgreSQL of several hosts, without encryption: fine on this machine, a warning elsewhere', async (t) => {
    const { username, host, pathname } = new URL(await createDatabaseUrl(t, 'postgres'))
    const closed = await freePort()
    const checkAt = (hosts: string) =>
      findingOf('database_encryption', { ...good, DATABASE_URL: `postgres://${username}@${hosts}${pathname}` })
    assert.deepEqual(await checkAt(`127.0.0.1:${closed},${host}`), ['ok', 'PostgreSQL is on this machine'])
    assert.match((await checkAt(`${host},db.example:5432`)).join(' '), /^warning .* is not encrypted/)
  })
}
