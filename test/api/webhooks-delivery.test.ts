/** How webhooks are delivered: by one node, over one connection, and whatever receivers do. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { createProduct } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'
import { type Received, startReceiver, verify } from '../support/webhook-receiver.ts'

const path = '/api/admin/webhooks'
const hang = () => {}
const namesOf = (received: readonly Received[]) => received.map(({ message }) => message.data.attributes.name)

interface Lease {
  holder: string | null
  held_until: number
}

const findLease = (db: Database) =>
  db.get<Lease>("SELECT holder, held_until FROM change_consumers WHERE name = 'webhooks'")

async function assertReleased(db: Database): Promise<void> {
  const lease = await findLease(db)
  assert.ok(lease === undefined || (lease.holder === null && lease.held_until === 0), JSON.stringify(lease))
}

/** How many endpoints the dispatcher has found the last time it looked. A change reaches it by a message, after its answer. */
function watchEndpoints(t: TestContext, db: Database): () => number | undefined {
  const { all } = db
  let found: number | undefined
  const watched: Pick<Database, 'all'> = {
    async all(sql, params) {
      const rows = await all(sql, params)
      if (sql.includes('FROM webhooks WHERE off_since IS NULL ORDER BY')) found = rows.length
      return rows as never
    },
  }
  Object.assign(db, watched)
  t.after(() => Object.assign(db, { all }))
  return () => found
}

async function createWebhook({ post }: Pick<ApiWithRoles, 'post'>, token: string, url: string, types = ['product.*']) {
  const { status, body } = await post(path, { url, types }, token)
  assert.equal(status, 201, JSON.stringify(body))
  return { id: body.data.id as number, secret: body.secret as string, path: `${path}/${body.data.id}` }
}

test('a service without webhooks writes nothing while it is idle', async (t) => {
  const api = await startApiWithRoles(t, {})
  const file = new DatabaseSync(api.databaseUrl.slice('file:'.length), { readOnly: true })
  t.after(() => file.close())
  const version = () => file.prepare('PRAGMA data_version').get()?.data_version
  // What the start has to write.
  const before = await eventually(async () => {
    const found = version()
    await sleep(500)
    assert.equal(version(), found)
    return found
  })
  // A lease would be extended every five seconds.
  await sleep(5500)
  assert.equal(version(), before)
})

/** The service is shared, so each test deletes its webhooks. */
function shareService(engine: Dialect) {
  const shared = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine, env: unlimitedRates })
    return { api, ...(await api.signInAs('admin')) }
  })
  return async (t: TestContext) => {
    const { api, access } = await shared()
    t.after(() => api.db.write({ sql: 'DELETE FROM webhooks' }))
    return { api, access }
  }
}

onRacingEngine('webhooks', (engine) => {
  const begin = shareService(engine)

  test('are delivered under a lease that is held only while one of them is on', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    await assertReleased(api.db)
    const webhook = await createWebhook(api, access, receiver.url)
    await createProduct(api, access, { name: 'On' })
    await eventually(() => assert.deepEqual(namesOf(receiver.received), ['On']))
    assert.notEqual((await findLease(api.db))?.holder ?? null, null)
    await api.put(webhook.path, { enabled: false }, access)
    await eventually(() => assertReleased(api.db))
    await createProduct(api, access, { name: 'While off' })
    await api.put(webhook.path, { enabled: true }, access)
    await eventually(() => assert.deepEqual(namesOf(receiver.received), ['On', 'While off']))
    await api.delete(webhook.path, access)
    await eventually(() => assertReleased(api.db))
  })

  test('send many messages over one connection, in order, and record each of them', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    const webhook = await createWebhook(api, access, receiver.url)
    await api.put(webhook.path, { enabled: false }, access)
    // More than are recorded at once.
    const names = Array.from({ length: amount({ full: 150, otherwise: 110 }) }, (_, i) => `Product ${i}`)
    for (const name of names) await createProduct(api, access, { name })
    await api.put(webhook.path, { enabled: true }, access)
    await eventually(() => assert.equal(receiver.received.length, names.length))
    assert.deepEqual(namesOf(receiver.received), names)
    assert.equal(receiver.connections, 1)
    await eventually(async () => {
      const sql = `SELECT count(*) AS n FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'delivered' AND attempts = 1`
      assert.equal((await api.db.get<{ n: number }>(sql, [webhook.id]))?.n, names.length)
    })
    const stored = await api.db.get<{ position: number }>('SELECT position FROM webhooks WHERE id = $1', [webhook.id])
    const last = await api.db.get('SELECT change_id FROM webhook_deliveries ORDER BY id DESC LIMIT 1')
    assert.deepEqual(last, { change_id: stored?.position })
    assert.match(receiver.received.at(-1)?.id ?? '', /^msg_[0-9a-f]{32}_1$/)
  })

  test('that are deleted or switched off during a delivery get nothing more, and what was taken is not sent again', async (t) => {
    const { api, access } = await begin(t)
    const open: ServerResponse[] = []
    const receiver = await startReceiver(t, (_received, response) => void open.push(response))
    const deleted = await createWebhook(api, access, receiver.url)
    const off = await createWebhook(api, access, receiver.url)
    await createProduct(api, access, { name: 'First' })
    await createProduct(api, access, { name: 'Second' })
    await eventually(() => assert.equal(open.length, 2))
    const seen = watchEndpoints(t, api.db)
    await api.delete(deleted.path, access)
    await api.put(off.path, { enabled: false }, access)
    await eventually(() => assert.equal(seen(), 0))
    for (const response of open) response.writeHead(204).end()
    await eventually(() => assertReleased(api.db))
    assert.equal(receiver.received.length, 2)
    receiver.answer = 204
    await api.put(off.path, { enabled: true }, access)
    await eventually(() => assert.deepEqual(namesOf(receiver.received), ['First', 'First', 'Second']))
  })

  test('are at most a hundred, however many are made at once', async (t) => {
    const { api, access } = await begin(t)
    const body = { url: 'http://127.0.0.1:9999/', types: ['user.deleted'] }
    const before = amount({ full: 1, otherwise: 80 })
    const { id } = await createWebhook(api, access, body.url, body.types)
    await api.db.write({
      sql: `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${before})
            INSERT INTO webhooks (url, types, description, secret, position, owner_id, created_at, updated_at)
            SELECT url, types, description, secret, position, owner_id, created_at, updated_at
            FROM webhooks CROSS JOIN numbers WHERE id = $1 AND n > 1`,
      params: [id],
    })
    const answers = await Promise.all(
      Array.from({ length: amount({ full: 130, otherwise: 26 }) }, () => api.post(path, body, access)),
    )
    const made = answers.filter(({ status }) => status === 201)
    const refused = answers.find(({ status }) => status !== 201)
    assert.equal(made.length, 100 - before)
    assert.deepEqual([refused?.status, refused?.body], [409, { error: 'Too many webhooks' }])
    assert.equal((await api.get(path, access)).body.data.length, 100)
  })

  test('go to the address that another node has just written, even if its message is lost', async (t) => {
    const { api, access } = await begin(t)
    const [before, after] = [await startReceiver(t), await startReceiver(t)]
    const webhook = await createWebhook(api, access, before.url)
    await createProduct(api, access, { name: 'First' })
    await eventually(() => assert.deepEqual(namesOf(before.received), ['First']))
    await api.db.write({
      sql: 'UPDATE webhooks SET url = $1, revision = revision + 1 WHERE id = $2',
      params: [after.url, webhook.id],
    })
    await createProduct(api, access, { name: 'Second' })
    await eventually(() => assert.deepEqual(namesOf(after.received), ['Second']))
    assert.equal(before.received.length, 1)
  })

  test('are signed with every secret of the last day, also if several were made at once', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    const webhook = await createWebhook(api, access, receiver.url)
    const replaced = await Promise.all([1, 2, 3].map(() => api.post(`${webhook.path}/secret`, {}, access)))
    const secrets = [webhook.secret, ...replaced.map(({ body }) => body.secret as string)]
    assert.equal(new Set(secrets).size, 4)
    await createProduct(api, access)
    await eventually(() => assert.equal(receiver.received.length, 1))
    const [received] = receiver.received as [Received]
    assert.equal(received.signatures.length, 4)
    for (const secret of secrets) verify(secret, received)
    const told = [api.log.join(''), JSON.stringify((await api.get('/api/admin/audit?per_page=100', access)).body)]
    for (const secret of secrets) assert.ok(!told.some((text) => text.includes(secret.slice('whsec_'.length))))
  })

  testInFull('are released at a stop, even if a receiver hangs, and delivered by the next node', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const { access } = await api.signInAs('admin')
    const receiver = await startReceiver(t, hang)
    await createWebhook(api, access, receiver.url)
    await createProduct(api, access, { name: 'First' })
    await eventually(() => assert.equal(receiver.received.length, 1))
    await api.app.close()
    // Not by the next node, which may have taken the lease by then.
    const { db } = await openDatabase(openOptions({ url: api.databaseUrl, migrations: ownMigrations }))
    await assertReleased(db).finally(() => db.close())
    receiver.answer = 204
    const next = await startApiWithRoles(t, { engine, env: { DATABASE_URL: api.databaseUrl } })
    await eventually(() => assert.deepEqual(namesOf(receiver.received), ['First', 'First']))
    assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1)
    await next.app.close()
  })

  if (engine === 'postgres') {
    test('are delivered by another node as soon as one has stopped', async (t) => {
      const first = await startApiWithRoles(t, { engine })
      const { access } = await first.signInAs('admin')
      const receiver = await startReceiver(t)
      const webhook = await createWebhook(first, access, receiver.url)
      await createProduct(first, access, { name: 'First' })
      await eventually(() => assert.deepEqual(namesOf(receiver.received), ['First']))
      const second = await startApiWithRoles(t, { engine, env: { DATABASE_URL: first.databaseUrl } })
      const { holder } = (await findLease(second.db)) as Lease
      await createProduct(second, access, { name: 'Second' })
      await eventually(() => assert.deepEqual(namesOf(receiver.received), ['First', 'Second']))
      assert.equal((await findLease(second.db))?.holder, holder)
      await first.app.close()
      await createProduct(second, access, { name: 'Third' })
      await eventually(() => assert.deepEqual(namesOf(receiver.received), ['First', 'Second', 'Third']))
      assert.notEqual((await findLease(second.db))?.holder, holder)
      // Made by one node, delivered by another.
      const third = await startApiWithRoles(t, { engine, env: { DATABASE_URL: first.databaseUrl } })
      await third.put(webhook.path, { types: ['product.deleted'] }, access)
      const other = await startReceiver(t)
      await createWebhook(third, access, other.url)
      await createProduct(third, access, { name: 'Fourth' })
      await eventually(() => assert.deepEqual(namesOf(other.received), ['Fourth']))
      assert.equal(receiver.received.length, 3)
    })
  }
})

onAnyEngine('webhooks', (engine) => {
  const begin = shareService(engine)

  test('that hang do not hold up others', async (t) => {
    const { api, access } = await begin(t)
    const hanging = await startReceiver(t, hang)
    const quick = await startReceiver(t)
    for (let i = 0; i < 20; i++) await createWebhook(api, access, hanging.url)
    await createWebhook(api, access, quick.url)
    for (const name of ['First', 'Second', 'Third']) await createProduct(api, access, { name })
    await eventually(() => assert.equal(hanging.received.length, 20))
    await eventually(() => assert.deepEqual(namesOf(quick.received), ['First', 'Second', 'Third']))
    assert.deepEqual(new Set(namesOf(hanging.received)), new Set(['First']))
  })

  test('of a clock that was wrong when they failed are not waited for', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t, 500)
    const { id, path } = await createWebhook(api, access, receiver.url)
    await createProduct(api, access, { name: 'First' })
    await eventually(async () => assert.equal((await api.get(path, access)).body.data.failures, 1))
    receiver.answer = 204
    const years = 4 * 365 * 86_400_000
    await api.db.write({
      sql: `UPDATE webhooks SET next_attempt_at = next_attempt_at + $2, failing_since = failing_since + $2,
              revision = revision + 1 WHERE id = $1`,
      params: [id, years],
    })
    // Any change makes whoever delivers look.
    await createWebhook(api, access, receiver.url, ['user.deleted'])
    await eventually(() => assert.equal(receiver.received.length, 2))
    await eventually(async () => assert.equal((await api.get(path, access)).body.data.failures, 0))
  })

  test('carry a message of a megabyte', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    const { secret } = await createWebhook(api, access, receiver.url)
    const description = 'ü'.repeat(500_000)
    await createProduct(api, access, { name: 'Large', description })
    await eventually(() => assert.equal(receiver.received.length, 1))
    const [large] = receiver.received as [Received]
    assert.equal(large.message.data.attributes.description, description)
    verify(secret, large)
  })

  test('go on with the oldest change that is kept if those before were removed, which the log says', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    const webhook = await createWebhook(api, access, receiver.url)
    const seen = watchEndpoints(t, api.db)
    await api.put(webhook.path, { enabled: false }, access)
    // Otherwise the first one may still be delivered.
    await eventually(() => assert.equal(seen(), 0))
    for (const name of ['Removed', 'Kept']) await createProduct(api, access, { name })
    await api.db.write({ sql: 'DELETE FROM changes WHERE id < (SELECT max(id) FROM changes)' })
    await api.put(webhook.path, { enabled: true }, access)
    await eventually(() => assert.deepEqual(namesOf(receiver.received), ['Kept']))
    assert.ok(api.log.some((line) => line.includes('a webhook was too late')))
  })
})
