import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { accountTopic } from '../../src/features/webhooks/account-events.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { type Api, share, unlimitedRates } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { type Received, startReceiver, verify } from '../support/webhook-receiver.ts'

const path = '/api/admin/webhooks'

const typesOf = (received: readonly Received[]) => received.map(({ message }) => message.type)
const namesOf = (received: readonly Received[]) => received.map(({ message }) => message.data.attributes.name)

async function createWebhook(api: Api, token: string, url: string, types = ['product.*']) {
  const { status, body } = await api.post(path, { url, types }, token)
  assert.equal(status, 201, JSON.stringify(body))
  return { id: body.data.id as number, secret: body.secret as string }
}

/** The service is shared, so each test deletes its webhooks. */
function shareService(engine: Dialect) {
  const shared = share((owner) => startApiWithRoles(owner, { engine, env: unlimitedRates }))
  return async (t: TestContext) => {
    const api = await shared()
    t.after(() => api.db.write({ sql: 'DELETE FROM webhooks' }))
    const { access, id: adminId } = await api.signInAs('admin')
    return { api, access, adminId }
  }
}

onRacingEngine('webhooks', (engine) => {
  const begin = shareService(engine)

  test('tell of every change, in order, signed by the Standard Webhooks specification', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    await createProduct(api, access, { name: 'From before' })
    const made = await api.post(path, { url: receiver.url, types: ['product.*'], description: ' The shop ' }, access)
    assert.equal(made.status, 201)
    assert.equal(made.headers.get('cache-control'), 'no-store')
    assert.match(made.body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const { secret, ...webhook } = made.body.data
    assert.equal(secret, made.body.secret)
    assert.deepEqual(webhook, {
      id: webhook.id,
      url: receiver.url,
      types: ['product.*'],
      description: 'The shop',
      enabled: true,
      off_reason: null,
      off_since: null,
      failures: 0,
      failing_since: null,
      next_attempt_at: null,
      created_at: webhook.created_at,
      updated_at: webhook.created_at,
    })
    assert.deepEqual((await api.get(`${path}/${webhook.id}`, access)).body, { data: webhook })
    assert.deepEqual((await api.get(path, access)).body, { data: [webhook] })

    const id = await createProduct(api, access, { name: 'Wörld' })
    await api.put(`${productsPath}/${id}`, { price: 7 }, access)
    await api.delete(`${productsPath}/${id}`, access)
    await eventually(() =>
      assert.deepEqual(typesOf(receiver.received), ['product.created', 'product.updated', 'product.deleted']),
    )
    const [created, updated] = receiver.received as [Received, Received]
    assert.deepEqual(Object.keys(created.message), ['type', 'timestamp', 'data'])
    assert.deepEqual(created.message.data.attributes.name, 'Wörld')
    assert.equal(updated.message.data.attributes.price, 7)
    assert.equal(created.headers['content-type'], 'application/json')
    for (const each of receiver.received) {
      // The library also checks that the message is not older than five minutes.
      new Webhook(secret).verify(each.body, each.headers as Record<string, string>)
      assert.throws(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, each))
    }
    assert.equal(new Set(receiver.received.map((each) => each.id)).size, 3)

    // Recorded after the answer.
    const { body } = await eventually(async () => {
      const found = await api.get(`${path}/${webhook.id}/deliveries?limit=2`, access)
      assert.deepEqual(found.body.meta, { limit: 2, more: true })
      return found
    })
    assert.deepEqual(
      body.data.map((each: { type: string; status: string; response_status: number; attempts: number }) => [
        each.type,
        each.status,
        each.response_status,
        each.attempts,
      ]),
      [
        ['product.deleted', 'delivered', 204, 1],
        ['product.updated', 'delivered', 204, 1],
      ],
    )
    const older = await api.get(`${path}/${webhook.id}/deliveries?before=${body.data[1].id}`, access)
    assert.deepEqual([older.body.data.length, older.body.meta.more], [1, false])
  })

  test('tell of account events', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    await createWebhook(api, access, receiver.url, ['user.registered', 'user.locked', 'session.*'])
    const user = await api.signInAs('viewer')
    const reuse = await api.signInAs('viewer')
    await api.post('/api/auth/refresh', { refresh_token: reuse.refresh })
    await api.post('/api/auth/refresh', { refresh_token: reuse.refresh })
    for (let i = 0; i < 5; i++) await api.post('/api/auth/login', { email: user.email, password: 'Wrong1!pass' })
    await eventually(() =>
      assert.deepEqual(typesOf(receiver.received), [
        'user.registered',
        'user.registered',
        'session.reuse_detected',
        'user.locked',
      ]),
    )
    const [registered, , , locked] = receiver.received as [Received, Received, Received, Received]
    assert.deepEqual(registered.message.data.user, {
      id: user.id,
      email: user.email,
      name: registered.message.data.user.name,
    })
    assert.equal(locked.message.data.user.id, user.id)
    assert.equal(locked.message.data.actor_id, null)
    assert.ok(!receiver.received.some(({ body }) => body.includes('$2')), 'no hash of a password')
  })

  test('the table of account events has events that features write, and the types that webhooks may ask for', async (t) => {
    const { db } = (await begin(t)).api
    const rows = await db.all<{ event: string; outcome: string; type: string }>('SELECT * FROM account_events')
    const { auditEvents } = declaredBy(ownFeatures)
    const unknown = rows.filter(({ event }) => !Object.hasOwn(auditEvents, event))
    assert.deepEqual(unknown, [])
    assert.deepEqual([...new Set(rows.map(({ type }) => type))].sort(), [...accountTopic.types].sort())
  })

  test('what fails is repeated before anything that follows, with the same id, later and later', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const { access } = await api.signInAs('admin')
    const receiver = await startReceiver(t, 500)
    const { id } = await createWebhook(api, access, receiver.url)
    for (const name of ['First', 'Second', 'Third']) await createProduct(api, access, { name })
    await eventually(() => assert.equal(receiver.received.length, 1))
    await eventually(async () => {
      const { body } = await api.get(`${path}/${id}`, access)
      assert.equal(body.data.failures, 1)
      assert.equal(Date.parse(body.data.next_attempt_at) - Date.parse(body.data.failing_since), 5000)
    })
    api.clock.advance(6)
    await eventually(() => assert.equal(receiver.received.length, 2))
    await eventually(async () => {
      const { body } = await api.get(`${path}/${id}`, access)
      assert.equal(body.data.failures, 2)
    })
    // An hour without the service.
    await api.app.close()
    receiver.answer = 200
    const again = await startApiWithRoles(t, { engine, env: { DATABASE_URL: api.databaseUrl } })
    again.clock.advance(3600)
    await eventually(() => assert.equal(receiver.received.length, 5))
    assert.deepEqual(namesOf(receiver.received), ['First', 'First', 'First', 'Second', 'Third'])
    assert.equal(new Set(receiver.received.map((each) => each.id)).size, 3)
    const admin = await again.signInAs('admin')
    const { body } = await again.get(`${path}/${id}/deliveries`, admin.access)
    assert.deepEqual(
      body.data.map(({ attempts }: { attempts: number }) => attempts),
      [1, 1, 3],
    )
    assert.equal((await again.get(`${path}/${id}`, admin.access)).body.data.failing_since, null)
  })

  test('one that fails for three days is switched off, audited, and goes on without a gap', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t, 500)
    const { id } = await createWebhook(api, access, receiver.url)
    await createProduct(api, access, { name: 'First' })
    await eventually(() => assert.equal(receiver.received.length, 1))
    await eventually(async () => assert.equal((await api.get(`${path}/${id}`, access)).body.data.failures, 1))
    api.clock.advance(3 * 86_400 + 10)
    const admin = await api.signInAs('admin')
    await eventually(async () => {
      const { body } = await api.get(`${path}/${id}`, admin.access)
      assert.deepEqual([body.data.enabled, body.data.off_reason], [false, 'failures'])
    })
    const audit = await api.get('/api/admin/audit', admin.access)
    const entry = audit.body.data.find(({ event }: { event: string }) => event === 'webhook_switched_off')
    assert.deepEqual([entry.actor_id, entry.changes.enabled], [null, { from: true, to: false }])
    const tried = receiver.received.length
    await createProduct(api, admin.access, { name: 'Second' })
    receiver.answer = 204
    const on = await api.put(`${path}/${id}`, { enabled: true }, admin.access)
    assert.deepEqual([on.body.data.enabled, on.body.data.off_reason, on.body.data.failures], [true, null, 0])
    await eventually(() => assert.deepEqual(namesOf(receiver.received.slice(tried)), ['First', 'Second']))
  })

  test('can be changed, switched off and deleted, which ends what they are told', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    const other = await startReceiver(t)
    const { id } = await createWebhook(api, access, receiver.url)
    const off = await api.put(`${path}/${id}`, { enabled: false }, access)
    assert.equal(off.status, 200, JSON.stringify(off.body))
    assert.deepEqual([off.body.data.enabled, off.body.data.off_reason], [false, 'person'])
    await createProduct(api, access, { name: 'While off' })
    await api.put(`${path}/${id}`, { url: other.url, types: ['product.created'], enabled: true }, access)
    await eventually(() => assert.deepEqual(namesOf(other.received), ['While off']))
    assert.equal(receiver.received.length, 0)
    assert.equal((await api.delete(`${path}/${id}`, access)).status, 204)
    for (const gone of [
      await api.get(`${path}/${id}`, access),
      await api.put(`${path}/${id}`, {}, access),
      await api.delete(`${path}/${id}`, access),
      await api.post(`${path}/${id}/test`, {}, access),
      await api.post(`${path}/${id}/secret`, {}, access),
      await api.get(`${path}/${id}/deliveries`, access),
    ]) {
      assert.deepEqual([gone.status, gone.body], [404, { error: 'Not found' }])
    }
  })
})

onAnyEngine('webhooks', (engine) => {
  const begin = shareService(engine)

  test('a replaced secret signs along for a day', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t)
    const { id, secret } = await createWebhook(api, access, receiver.url)
    const replaced = await api.post(`${path}/${id}/secret`, {}, access)
    assert.equal(replaced.status, 200)
    assert.notEqual(replaced.body.secret, secret)
    const sent = await api.post(`${path}/${id}/test`, {}, access)
    assert.deepEqual([sent.status, sent.body.data.status, sent.body.data.type], [200, 'delivered', 'webhook.test'])
    const [both] = receiver.received as [Received]
    assert.equal(both.signatures.length, 2)
    for (const each of [secret, replaced.body.secret]) verify(each, both)
    api.clock.advance(86_400)
    const admin = await api.signInAs('admin')
    await api.post(`${path}/${id}/test`, {}, admin.access)
    const one = receiver.received[1] as Received
    assert.equal(one.signatures.length, 1)
    verify(replaced.body.secret, one)
  })

  test('outlive a change of the key that encrypts their secrets, and then its removal', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: { APP_KEY: 'the first key of at least 32 bytes' } })
    const { access } = await api.signInAs('admin')
    const receiver = await startReceiver(t)
    const { id, secret: first } = await createWebhook(api, access, receiver.url)
    const { secret } = (await api.post(`${path}/${id}/secret`, {}, access)).body
    const stored = async (db: Database) =>
      (await db.get<{ secret: string }>('SELECT secret FROM webhooks WHERE id = $1', [id]))?.secret ?? ''
    const before = await stored(api.db)
    assert.ok(!before.includes(secret.slice(6, 20)))
    await api.app.close()
    const env = { DATABASE_URL: api.databaseUrl, APP_KEY: 'another key of at least 32 bytes too' }
    const both = { ...env, JWT_PREVIOUS_SECRETS: 'the first key of at least 32 bytes' }
    const next = await startApiWithRoles(t, { engine, env: both })
    await eventually(async () => assert.notEqual(await stored(next.db), before))
    await next.app.close()
    const last = await startApiWithRoles(t, { engine, env })
    const admin = await last.signInAs('admin')
    assert.equal((await last.post(`${path}/${id}/test`, {}, admin.access)).body.data.status, 'delivered')
    for (const each of [first, secret]) verify(each, receiver.received[0] as Received)
  })

  test('a delivery can be sent again, and a test tells what went wrong', async (t) => {
    const { api, access } = await begin(t)
    const receiver = await startReceiver(t, (_request, response) =>
      response.writeHead(503).end('closed\u0000 for today'),
    )
    const { id } = await createWebhook(api, access, receiver.url)
    const failed = await api.post(`${path}/${id}/test`, {}, access)
    const { status, response_status, response, error } = failed.body.data
    assert.deepEqual(
      [failed.status, status, response_status, response, error],
      [200, 'failed', 503, 'closed\ufffd for today', null],
    )
    receiver.answer = (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()
    const redirected = await api.post(`${path}/${id}/deliveries/${failed.body.data.id}/retry`, {}, access)
    assert.deepEqual([redirected.body.data.status, redirected.body.data.response_status], ['failed', 302])
    assert.equal(receiver.received.length, 2)
    receiver.answer = 200
    const again = await api.post(`${path}/${id}/deliveries/${failed.body.data.id}/retry`, {}, access)
    assert.deepEqual([again.body.data.status, again.body.data.attempts], ['delivered', 3])
    assert.equal(new Set(receiver.received.map((each) => each.id)).size, 1)

    await createProduct(api, access, { name: 'Again' })
    await eventually(() => assert.equal(receiver.received.length, 4))
    await eventually(async () => assert.equal((await api.get(`${path}/${id}/deliveries`, access)).body.data.length, 2))
    const [newest] = (await api.get(`${path}/${id}/deliveries`, access)).body.data
    await api.post(`${path}/${id}/deliveries/${newest.id}/retry`, {}, access)
    const [first, second] = receiver.received.slice(3) as [Received, Received]
    assert.deepEqual([second.id, second.message], [first.id, first.message])

    await receiver.close()
    const gone = await api.post(`${path}/${id}/test`, {}, access)
    assert.deepEqual([gone.body.data.status, gone.body.data.response_status], ['failed', null])
    assert.match(gone.body.data.error, /\w/)
    assert.equal((await api.post(`${path}/${id}/deliveries/999999/retry`, {}, access)).status, 404)
    assert.equal((await api.post(`${path}/${id}/deliveries/x/retry`, {}, access)).status, 404)
    const other = await createWebhook(api, access, receiver.url)
    assert.equal((await api.post(`${path}/${other.id}/deliveries/${newest.id}/retry`, {}, access)).status, 404)
    assert.deepEqual((await api.get(`${path}/${other.id}/deliveries`, access)).body.data, [])
  })

  test('leave entries in the audit trail that say which webhook, and what was refused', async (t) => {
    const { api, access, adminId: actorId } = await begin(t)
    const viewer = await api.signInAs('viewer')
    const url = 'https://example.com/hook'
    const { id } = await createWebhook(api, access, url)
    await api.put(`${path}/${id}`, { description: 'The shop', enabled: false }, access)
    await api.post(`${path}/${id}/secret`, {}, access)
    assert.equal((await api.delete(`${path}/${id}`, viewer.access)).status, 403)
    await api.delete(`${path}/${id}`, access)
    type Entry = { event: string; outcome: string; user_id: number; actor_id: number; changes: object }
    const { data } = (await api.get('/api/admin/audit', access)).body as { data: Entry[] }
    const same = (value: unknown) => ({ from: value, to: value })
    assert.deepEqual(
      data
        .filter(({ event, actor_id }) => event.startsWith('webhook_') && [actorId, viewer.id].includes(actor_id))
        .map(({ event, outcome, user_id, actor_id, changes }) => [event, outcome, user_id, actor_id, changes])
        .reverse(),
      [
        [
          'webhook_created',
          'success',
          null,
          actorId,
          { url: { from: null, to: url }, types: { from: null, to: ['product.*'] } },
        ],
        [
          'webhook_changed',
          'success',
          null,
          actorId,
          { webhook: same(id), description: { from: '', to: 'The shop' }, enabled: { from: true, to: false } },
        ],
        ['webhook_secret_replaced', 'success', null, actorId, { webhook: same(id), url: same(url) }],
        ['webhook_deleted', 'refused', null, viewer.id, { webhook: same(id) }],
        [
          'webhook_deleted',
          'success',
          null,
          actorId,
          { webhook: { from: id, to: null }, url: { from: url, to: null } },
        ],
      ],
    )
  })

  test('need permissions, valid types and a URL', async (t) => {
    const { api, access } = await begin(t)
    const viewer = await api.signInAs('viewer')
    const body = { url: 'https://example.com/hook', types: ['*'] }
    assert.equal((await api.post(path, body)).status, 401)
    assert.equal((await api.post(path, body, viewer.access)).status, 403)
    assert.equal((await api.get(path, viewer.access)).status, 403)
    const refused = async (given: object) => {
      const { status, body } = await api.post(path, given, access)
      assert.equal(status, 422)
      return body.details
    }
    assert.deepEqual(await refused({}), { url: ['Must not be blank'], types: ['Must not be blank'] })
    assert.deepEqual(await refused({ ...body, types: [] }), { types: ['Must have at least 1 item'] })
    const wrong = ['Must be an event such as product.created or product.*']
    assert.deepEqual(await refused({ ...body, types: ['product.created', 'order.paid', 'product*'] }), {
      'types.1': wrong,
      'types.2': wrong,
    })
    assert.ok((await refused({ ...body, url: 'ftp://example.com' })).url)
    const { secret, data } = (await api.post(path, body, access)).body
    const blank = await api.put(`${path}/${data.id}`, { url: ' ' }, access)
    assert.deepEqual([blank.status, blank.body.details], [422, { url: ['Must not be blank'] }])
    assert.ok(!JSON.stringify((await api.get(path, access)).body).includes('whsec_'))
    assert.ok(!api.log.join('').includes(secret))
  })
})
