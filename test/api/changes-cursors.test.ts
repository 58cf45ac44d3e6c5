/** Cursors reveal nothing: neither what they name, nor what happens to accounts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startRetention } from '../../src/platform/changes/retention.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { type Api, shareService, startApi } from '../support/api.ts'
import { openChanges, readChanges, told } from '../support/changes.ts'
import { engines, forEngines, onAnyEngine, onEachEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { register, signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const log = createLogger({ level: 'silent', isTerminal: false })
const listCursor = async (api: Api) => (await api.get(productsPath)).headers.get('x-cursor') ?? ''
const statusOf = async (api: Api, after: string | number) => (await readChanges(api, { after })).status

const services = forEngines((engine) => shareService(startApiWithRoles, { engine }))

onEachEngine('a cursor', (engine) => {
  const shared = services[engine]

  test('says nothing of account events: pages are full, and nothing seems to follow', async () => {
    const api = await shared()
    const { db } = api
    const { access } = await signIn(api)
    const before = await listCursor(api)
    for (const name of ['One', 'Two', 'Three']) {
      await logAccountEvents(db, 40)
      await createProduct(api, access, { name })
    }
    const end = (await readChanges(api)).body.meta.cursor
    await logAccountEvents(db, 1200)
    const first = (await readChanges(api, { after: before, limit: 2 })).body
    assert.deepEqual([told(first.data), first.meta.more], [['created One', 'created Two'], true])
    const rest = (await readChanges(api, { after: first.meta.cursor, limit: 1 })).body
    assert.deepEqual([told(rest.data), rest.meta.more], [['created Three'], false])
    for (const after of [end, rest.meta.cursor, await listCursor(api)]) {
      const { data, meta } = (await readChanges(api, { after, limit: 1 })).body
      assert.deepEqual([data, meta.more], [[], false])
    }
  })

  test('does not wake a request that waits, nor expires with account events', async (t) => {
    const { api, access, db } = await start(t, engine)
    const empty = await listCursor(api)
    const waiting = readChanges(api, { after: empty, wait: 30 })
    await register(api)
    await logAccountEvents(db, 3)
    await createProduct(api, access, { name: 'One' })
    assert.deepEqual(told((await waiting).body.data), ['created One'])
    const cursor = await listCursor(api)
    await logAccountEvents(db, 3)

    const retention = startRetention({ db, clock: api.clock, log, days: 30, cursors: { pending: undefined } })
    t.after(() => retention.close())
    for (let i = 0; i < 3; i++) {
      api.clock.advance(31 * 86_400)
      await logAccountEvents(db, 3, api.clock.nowIso())
      await retention.run()
      assert.equal(await statusOf(api, cursor), 200, 'it has missed no product')
      assert.equal(await statusOf(api, empty), 200, 'and neither has the first one: all are kept')
    }
    const { access: later } = await signIn(api)
    for (const name of ['Two', 'Three']) await createProduct(api, later, { name })
    api.clock.advance(31 * 86_400)
    await retention.run()
    assert.deepEqual([await statusOf(api, cursor), await statusOf(api, empty)], [410, 410])
  })

  test('of a topic of which nothing is left goes on, after a node of the previous release has trimmed the log', async () => {
    const api = await shared()
    const { db } = api
    const { access } = await signIn(api)
    await logAccountEvents(db, 5)
    const { id } = (await db.get<{ id: number }>('SELECT MAX(id) AS id FROM changes')) ?? { id: 0 }
    await db.write(
      { sql: 'DELETE FROM changes WHERE id < $1', params: [id] },
      {
        sql: "INSERT INTO change_removals (topic, position) VALUES ('', $1) ON CONFLICT (topic) DO UPDATE SET position = $1",
        params: [id - 1],
      },
    )
    const listed = await listCursor(api)
    const latest = (await readChanges(api)).body.meta.cursor
    await createProduct(api, access, { name: 'One' })
    for (const after of [listed, latest]) {
      assert.deepEqual(told((await readChanges(api, { after })).body.data), ['created One'])
    }
  })
})

onAnyEngine('a cursor', (engine) => {
  const shared = services[engine]

  test('is another one each time, and always as long', async (t) => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const name of ['One', 'Two']) await createProduct(api, access, { name })
    const cursors: string[] = []
    for (let i = 0; i < 3; i++) {
      cursors.push(await listCursor(api))
      const { data, meta } = (await readChanges(api, { after: 0 })).body
      cursors.push(...data.map(({ cursor }) => cursor), meta.cursor)
      const stream = await openChanges(t, api.url)
      await eventually(() => assert.notEqual(stream.lastId(), ''))
      cursors.push(stream.lastId())
    }
    assert.equal(new Set(cursors).size, cursors.length)
    for (const cursor of cursors) assert.match(cursor, /^[\w-]{48}$/)
  })

  test('of another installation or that was tampered with has expired; those of a previous secret go on', async (t) => {
    const secrets = [
      'the first secret of the service with 32 bytes or more',
      'the second secret of the service, of 32 bytes or more',
    ]
    const env = { JWT_SECRET: secrets[0] as string }
    const { api, access } = await start(t, engine, env)
    const cursor = await listCursor(api)
    await createProduct(api, access, { name: 'New' })
    const rotated = { DATABASE_URL: api.databaseUrl, JWT_SECRET: secrets[1] as string }
    await api.app.close()
    const after = await startApi(t, { engine, env: { ...rotated, JWT_PREVIOUS_SECRETS: secrets[0] as string } })
    assert.deepEqual(told((await readChanges(after, { after: cursor })).body.data), ['created New'])
    const tampered = cursor.slice(0, 20) + (cursor[20] === 'A' ? 'B' : 'A') + cursor.slice(21)
    assert.equal(await statusOf(after, tampered), 410)
    await after.app.close()
    const foreign = await startApi(t, { engine, env: rotated })
    const refused = await readChanges(foreign, { after: cursor })
    assert.deepEqual([refused.status, refused.body], [410, { error: 'Cursor has expired' }])
    for (const none of [`${cursor}A`, cursor.slice(1), '!'.repeat(48)]) assert.equal(await statusOf(foreign, none), 422)
  })

  test('that is a plain number is only what was issued before, never a guess', async () => {
    const api = await shared()
    const { db } = api
    const { access } = await signIn(api)
    for (const name of ['One', 'Two']) await createProduct(api, access, { name })
    const last = (await db.get<{ id: number }>('SELECT MAX(id) AS id FROM changes'))?.id ?? 0
    for (const guess of [last - 1, last, last + 1]) assert.equal(await statusOf(api, guess), 410)
    assert.deepEqual(told((await readChanges(api, { after: 0 })).body.data).slice(-2), ['created One', 'created Two'])
  })
})

if (engines.includes('postgres')) {
  test('cursors are plain as long as a node of the previous release is there, and encrypted for good after it', async (t) => {
    const first = await start(t, 'postgres')
    const { databaseUrl } = first.api
    await createProduct(first.api, first.access, { name: 'One' })
    await first.db.write(
      { sql: 'UPDATE change_cursors SET is_encrypted = FALSE, plain_until = NULL' },
      {
        sql: `INSERT INTO service_nodes (id, name, version, threads, started_at, seen_at, expires_at)
              VALUES ('old', 'old', '0', 1, now(), now(), $1)`,
        params: [2 ** 40],
      },
    )
    await first.api.app.close()
    const { api, access, db } = await start(t, 'postgres', { DATABASE_URL: databaseUrl })
    const plain = await listCursor(api)
    assert.match(plain, /^\d+$/)
    const [one] = (await readChanges(api, { after: 0 })).body.data
    assert.match(one?.cursor ?? '', /^\d+$/)
    await createProduct(api, access, { name: 'Two' })
    await db.write({ sql: "DELETE FROM service_nodes WHERE id = 'old'" })
    await eventually(async () => assert.match(await listCursor(api), /^[\w-]{48}$/), 60_000)
    await createProduct(api, access, { name: 'Three' })
    for (const after of [plain, one?.cursor ?? '']) {
      assert.deepEqual(told((await readChanges(api, { after })).body.data), ['created Two', 'created Three'])
    }
    const last = (await db.get<{ id: number }>('SELECT MAX(id) AS id FROM changes'))?.id ?? 0
    assert.equal(await statusOf(api, last), 410)
    const nodes = await db.all<{ new: boolean }>('SELECT reads_encrypted_cursors AS new FROM service_nodes')
    assert.ok(nodes.length > 0 && nodes.every((node) => node.new))
  })
}

async function start(t: TestContext, engine: Dialect, env: Record<string, string> = {}) {
  const opened: Database[] = []
  const api = await startApi(t, { engine, env, extend: (_app, parts) => void opened.push(parts.db) })
  const { access } = await signIn(api)
  return { api, access, db: opened[0] as Database }
}

async function logAccountEvents(db: Database, count: number, at = '2026-01-01T00:00:00.000Z'): Promise<void> {
  const rows = Array.from({ length: count }, () => `('accounts', 'user.locked', '${at}', '{}')`)
  await db.write({ sql: `INSERT INTO changes (topic, type, at, data) VALUES ${rows.join()}` })
}
