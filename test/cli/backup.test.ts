/** backup, restore and move, run as processes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { root } from '../../src/config/root.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { startApi } from '../support/api.ts'
import { run, shareArchive } from '../support/archive-commands.ts'
import { placeOf, tablesIn, tablesOfDatabase, withFlippedByte } from '../support/archives.ts'
import { createDatabaseUrl, engines, onEachEngine, temporaryFolder, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { makeKey } from '../support/keys.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { enableTwoFactor, logIn, many, signIn, totp } from '../support/people.ts'
import { collect, type Ended, environment } from '../support/process.ts'
import { createProduct, namesOf, productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount, chosen } from '../support/tiers.ts'

function assertRefused(ended: Ended, code: number, line: RegExp): void {
  assert.equal(ended.code, code, ended.stderr)
  assert.match(ended.stderr, /^latchkey: [^\n]*\n$/)
  assert.match(ended.stderr, line)
}

function assertDone(ended: Ended, line: RegExp): void {
  assert.equal(ended.code, 0, ended.stderr)
  assert.match(ended.stdout, line)
  assert.equal(ended.stderr, '')
}

/** A service with what people must not lose. */
async function startFilled(t: TestContext, engine: Dialect) {
  const api = await startApiWithRoles(t, { engine })
  const people = await many(5, (i) => signIn(api, `person${i}@example.com`))
  const [first, second] = people as [(typeof people)[0], (typeof people)[0]]
  await api.grant(first, 'admin')
  const { secret } = await enableTwoFactor(api, second)
  const { key } = await makeKey(api, first.access)
  const lamp = await createProduct(api, first.access, { name: 'Copper Lamp' })
  const gone = await createProduct(api, first.access, { name: 'Gone Lamp' })
  await api.delete(`${productsPath}/${gone}`, first.access)
  return { api, people, first, second, secret, key, lamp, gone }
}

type Filled = Awaited<ReturnType<typeof startFilled>>

async function assertWhole(t: TestContext, url: string, { people, first, second, secret, key, gone }: Filled) {
  const api = await startApi(t, { env: { DATABASE_URL: url } })
  // The clock of a service begins up to 30 s early, and tokens from the future are refused.
  api.clock.advance(30)
  assert.equal((await api.get('/me', first.access)).status, 200)
  for (const { refresh } of people) {
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: refresh })).status, 200)
  }
  assert.equal((await api.get('/me', key)).status, 200)
  const { body } = await logIn(api, second.email)
  const verified = await api.post('/api/auth/2fa/verify', {
    challenge_token: body.challenge_token,
    code: totp(api, secret),
  })
  assert.equal(verified.status, 200, JSON.stringify(verified.body))
  assert.deepEqual(namesOf(await api.get(`${productsPath}?q=lamp`)), ['Copper Lamp'])
  assert.equal((await api.get(productsPath)).body.meta.total, 1)
  const { access_token: access } = (await logIn(api, first.email)).body
  assert.equal(await createProduct(api, access, { name: 'Next Lamp' }), gone + 1)
  await api.close()
}

for (const from of engines) {
  for (const to of chosen(engines, (engine) => engine !== from)) {
    test(`moving from ${from} to ${to} signs nobody out and loses nothing`, async (t) => {
      const filled = await startFilled(t, from)
      const url = await createDatabaseUrl(t, to)
      const source = filled.api.databaseUrl
      assertRefused(await run(source, 'move', '--to', url), 69, /the service runs on the configured database/)
      await filled.api.close()
      const before = await tablesOfDatabase(t, placeOf(source))
      assertDone(await run(source, 'move', '--to', url), /^moved \d+ rows of \d+ tables, each compared, in [\d.]+ s\n/)
      assert.deepEqual(await tablesOfDatabase(t, placeOf(url)), before)
      assert.deepEqual(await tablesOfDatabase(t, placeOf(source)), before)
      await assertWhole(t, url, filled)
    })
  }
}

/** An archive that takes a while to restore. */
const manyProducts = amount({ full: 20_000, otherwise: 5000 })
const longArchive = shareArchive(manyProducts)

onEachEngine('backup and restore', (engine) => {
  test('work beside a service, into a private file, and bring everything back', async (t) => {
    const filled = await startFilled(t, engine)
    const source = filled.api.databaseUrl
    const file = join(temporaryFolder(t), 'test.archive')
    assertDone(await run(source, 'backup', file), /^backed up \d+ rows of \d+ tables, \d+ kB, in [\d.]+ s\n$/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(dirname(file)), [basename(file)])
    const bytes = readFileSync(file)
    assertRefused(await run(source, 'backup', file), 73, /it exists; --force replaces it/)
    assert.deepEqual(readFileSync(file), bytes)
    assertDone(await run(source, 'backup', '--force', file), /^backed up/)
    const checked = await run(source, 'restore', '--check', file)
    assertDone(checked, /^the archive is whole\ntaken .* from (sqlite|postgres)\nrows:\n(.*\n)* {2}users: 5\n/)

    assertRefused(await run(source, 'restore', '--replace', file), 69, /is in use.*stop the service first/)
    await filled.api.close()
    assertRefused(await run(source, 'restore', file), 65, /is not empty/)
    const damaged = await run(source, 'restore', '--replace', withFlippedByte(file, 400, 1))
    assertRefused(damaged, 65, /is damaged: table \w+, part 1 of 1\. Nothing was written/)
    // The node that ran during the backup is in the archive. Its row is over in 90 seconds, or when it stops.
    const readTables = async () => ({ ...(await tablesOfDatabase(t, placeOf(source))), service_nodes: undefined })
    const before = await readTables()
    // Twice: the node in the archive is not one that runs.
    for (const _ of [1, 2]) {
      assertDone(await run(source, 'restore', '--replace', file), /^restored \d+ rows of \d+ tables, each compared/)
    }
    assert.deepEqual(await readTables(), before)
    await assertWhole(t, source, filled)
  })

  testInFull('leave an empty database if they are killed in the middle, and work the next time', async (t) => {
    const { archive: file } = await longArchive()
    let url = await createDatabaseUrl(t, engine)
    for (const products of chosen([1, manyProducts / 2], (count) => count > 1)) {
      // On a busy machine it may have ended before it was seen, or killed.
      for (let attempt = 1; !(await isKilledWhileLoading(t, { file, url, products })); attempt++) {
        assert.ok(attempt < 20, 'it always ended before it was killed')
        url = await createDatabaseUrl(t, engine)
      }
      await eventually(async () => assert.equal(await isOpen(url), false))
      assert.equal(await hasTables(url), false)
    }
    assertDone(await run(url, 'restore', file), /^restored/)
    assert.deepEqual(await tablesOfDatabase(t, placeOf(url)), await tablesIn(file))
    if (engine === 'sqlite') assert.deepEqual(readdirSync(dirname(pathOf(url))), ['test.db'])
  })
})

const pathOf = (url: string) => url.slice('file:'.length)

interface Killed {
  file: string
  url: string
  /** It is killed when about so many are loaded. */
  products: number
}

/** Restores the file into the database, and returns whether that was killed in the middle. */
async function isKilledWhileLoading(t: TestContext, { file, url, products }: Killed): Promise<boolean> {
  const child = spawn(join(root, 'bin', 'latchkey'), ['restore', file], {
    cwd: '/',
    env: environment({ DATABASE_URL: url }),
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = collect(child)
  const isLoaded = url.startsWith('file:') ? () => isFileLoaded(url, products) : await watchTables(t, url, products)
  await eventually(async () => assert.ok(child.exitCode !== null || (await isLoaded())), 120_000)
  child.kill('SIGKILL')
  const { code } = await ended
  if (code !== null) assert.equal(code, 0)
  return code === null
}

const bytesOfProduct = 200

function isFileLoaded(url: string, products: number): boolean {
  const folder = dirname(pathOf(url))
  const found = readdirSync(folder).find((name) => /\.restoring-\d+$/.test(name))
  const size = found && statSync(join(folder, found), { throwIfNoEntry: false })?.size
  return Number(size) > 1_000_000 + products * bytesOfProduct
}

/** One connection, because each takes longer than the question. */
async function watchTables(t: TestContext, url: string, products: number): Promise<() => Promise<boolean>> {
  const client = new pg.Client({ connectionString: testServer('TEST_DATABASE_URL') })
  await client.connect()
  t.after(() => client.end())
  const sql = 'SELECT 1 FROM pg_stat_progress_copy WHERE datname = $1 AND tuples_processed >= $2'
  return async () => (await client.query(sql, [new URL(url).pathname.slice(1), products])).rows.length > 0
}

const hasTables = async (url: string) =>
  url.startsWith('file:')
    ? existsSync(pathOf(url))
    : (await ask(url, "SELECT 1 FROM pg_class WHERE relname = 'users'")).length > 0

/** Whether PostgreSQL has not noticed yet that the connection is lost, which it does when it reads from it. */
async function isOpen(url: string): Promise<boolean> {
  if (url.startsWith('file:')) return false
  const sql =
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'latchkey archive' AND datname = current_database()"
  return (await ask(url, sql)).length > 0
}

async function ask(url: string, sql: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('an archive goes through a pipe, and nothing else is on it', async (t) => {
  const url = await createDatabaseUrl(t, 'sqlite', { isMigrated: true })
  const child = spawn(join(root, 'bin', 'latchkey'), ['backup', '-'], {
    cwd: '/',
    env: environment({ DATABASE_URL: url }),
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  const { code } = await collect(child)
  assert.equal(code, 0)
  const file = join(temporaryFolder(t), 'piped.archive')
  writeFileSync(file, Buffer.concat(chunks))
  assertDone(await run(url, 'restore', '--check', file), /^the archive is whole/)
})

test('mistakes get one line each', async (t) => {
  const folder = temporaryFolder(t)
  const url = `file:${join(folder, 'none.db')}`
  assertRefused(await run(url, 'backup', join(folder, 'a.archive')), 66, /there is no database at/)
  assert.deepEqual(readdirSync(folder), [])
  assertRefused(await run(url, 'restore', join(folder, 'none.archive')), 66, /cannot read .*none\.archive/)
  assertRefused(await run(url, 'restore', '-'), 64, /not read from standard input: write it to a file first/)
  mkdirSync(join(folder, 'folder'))
  assertRefused(await run(url, 'restore', join(folder, 'folder')), 66, /it is not a file/)
  writeFileSync(join(folder, 'text'), 'not an archive, but some text that is long enough to be one, perhaps'.repeat(9))
  assertRefused(await run(url, 'restore', join(folder, 'text')), 65, /is no archive of Latchkey/)
  assertRefused(await run(url, 'move', '--to', 'mysql://localhost/x'), 64, /--to must be a URL that starts with file:/)
  assertRefused(await run(url, 'move', '--to', url), 64, /names the configured database itself/)
  writeFileSync(join(folder, 'broken.db'), 'no database at all'.repeat(100))
  const archive = join(folder, 'good.archive')
  const filled = `file:${join(folder, 'filled.db')}`
  await run(filled, 'migrate')
  await run(filled, 'backup', archive)
  assertRefused(
    await run(`file:${join(folder, 'broken.db')}`, 'restore', archive),
    65,
    /is damaged, or no database of SQLite: move it away/,
  )
})

for (const [every, folder, problem] of [
  ['24', 'x', /backup\.every|BACKUP_EVERY/],
  ['24 hours', 'x', /a time such as 30m, 24h or 7d/],
  ['0m', 'x', /a time such as 30m, 24h or 7d/],
  ['24h', undefined, /set BACKUP_FOLDER/],
] as const) {
  test(`BACKUP_EVERY=${every} with ${folder ?? 'no'} folder is refused`, async () => {
    const env = { BACKUP_EVERY: every, ...(folder !== undefined && { BACKUP_FOLDER: folder }) }
    const { code, stderr } = await runLoaded(['user:list'], { env })
    assert.equal(code, 78)
    assert.match(stderr, problem)
  })
}
