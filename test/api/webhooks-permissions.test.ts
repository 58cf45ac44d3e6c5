/** Account events go only to webhooks of users who may read accounts and the audit trail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { openConsole } from '../support/console.ts'
import { createDatabaseUrl, onAnyEngine, onPostgres } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { makeKey } from '../support/keys.ts'
import { migrationsBefore, openOptions, ownMigrations } from '../support/migrations.ts'
import { register } from '../support/people.ts'
import { createProduct } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { type Received, startReceiver } from '../support/webhook-receiver.ts'

const typesOf = (received: readonly Received[]) => received.map(({ message }) => message.type)

const path = '/api/admin/webhooks'
const accountTypes = [['*'], ['user.*'], ['session.*'], ['user.locked'], ['product.*', 'session.reuse_detected']]

onAnyEngine('webhooks for account events', (engine) => {
  const service = shareService(
    (owner, options: Parameters<typeof startApiWithRoles>[1]) =>
      startApiWithRoles(owner, {
        ...options,
        config: createConfig(owner, {
          auth: `auth { roles {
            admin { permissions = ["*"] }
            hooks { permissions = ["webhooks.*"] }
            half { permissions = ["webhooks.*", "users.view"] }
            reader { permissions = ["webhooks.*", "users.view", "audit.view"] }
          } }`,
        }),
      }),
    { engine },
  )

  test('are saved only by users who hold users.view and audit.view', async () => {
    const api = await service()
    const url = 'http://127.0.0.1:9999/'
    const [hooks, half, reader] = [
      await api.signInAs('hooks'),
      await api.signInAs('half'),
      await api.signInAs('reader'),
    ]
    const { key } = await makeKey(api, reader.access, { permissions: ['webhooks.*', 'users.view'] })
    for (const token of [hooks.access, half.access, key]) {
      for (const types of accountTypes) {
        const refused = await api.post(path, { url, types }, token)
        assert.deepEqual([refused.status, refused.body], [403, { error: 'Forbidden' }], types.join())
      }
      const { data } = (await api.post(path, { url, types: ['product.*'] }, token)).body
      assert.equal((await api.put(`${path}/${data.id}`, { types: ['user.*'] }, token)).status, 403)
      assert.equal((await api.put(`${path}/${data.id}`, { description: 'Mine' }, token)).status, 200)
    }
    const { data } = (await api.post(path, { url, types: ['*'] }, reader.access)).body
    const at = `${path}/${data.id}`
    for (const edit of [
      { url: 'http://127.0.0.1:9998/' },
      { description: 'x' },
      { enabled: true },
      { enabled: false, url },
    ]) {
      assert.equal((await api.put(at, edit, hooks.access)).status, 403, JSON.stringify(edit))
    }
    assert.equal((await api.put(at, { enabled: false }, hooks.access)).status, 200, 'nothing is sent to anybody')
    assert.equal((await api.put(at, { enabled: true }, hooks.access)).status, 403)
    assert.equal((await api.put(at, { types: ['product.*'] }, hooks.access)).status, 200)

    const browser = openConsole(api)
    await browser.signIn(hooks.email)
    await browser.open('/console/webhooks/new')
    const page = await browser.submit('/console/webhooks', { url, types: 'user.*', description: '' })
    assert.equal(page.status, 403)
    assert.match(page.text, /need the permissions users\.view and audit\.view/)
  })

  test('stop for a user who loses the permission, is disabled or deleted; product events go on', async (t) => {
    const api = await service()
    const admin = await api.signInAs('admin')
    const losses: [string, (id: number) => Promise<unknown>][] = [
      ['the role', (id) => api.put(`/api/admin/users/${id}/roles`, { roles: ['half'] }, admin.access)],
      ['the account for a while', (id) => api.put(`/api/admin/users/${id}`, { disabled: true }, admin.access)],
      ['the account', (id) => api.delete(`/api/admin/users/${id}`, admin.access)],
    ]
    for (const [name, lose] of losses) {
      const owner = await api.signInAs('reader')
      const receiver = await startReceiver(t)
      const types = ['user.registered', 'product.created']
      const { data } = (await api.post(path, { url: receiver.url, types }, owner.access)).body
      const { email } = await register(api)
      await eventually(() => assert.deepEqual(typesOf(receiver.received), ['user.registered'], name))
      await lose(owner.id)
      await register(api)
      await createProduct(api, admin.access, { name: 'Lamp' })
      await eventually(() => assert.deepEqual(typesOf(receiver.received), ['user.registered', 'product.created'], name))
      const [, first] = await eventually(async () => {
        const listed = (await api.get(`${path}/${data.id}/deliveries`, admin.access)).body.data
        assert.deepEqual(typesOf(listed.map((message: object) => ({ message }))), [
          'product.created',
          'user.registered',
        ])
        return listed
      })
      const retry = () => api.post(`${path}/${data.id}/deliveries/${first.id}/retry`, {}, admin.access)
      assert.equal((await retry()).status, 403, 'not sent again either')
      assert.equal((await api.put(`${path}/${data.id}`, { description: 'Taken over' }, admin.access)).status, 200)
      assert.equal((await retry()).status, 200)
      assert.ok(receiver.received.at(-1)?.body.includes(email))
      await api.delete(`${path}/${data.id}`, admin.access)
    }
  })

  test('show the responses to account events only to users who may read these', async (t) => {
    const api = await service()
    const [admin, hooks] = [await api.signInAs('admin'), await api.signInAs('hooks')]
    const receiver = await startReceiver(t)
    receiver.answer = (_request, response) => response.writeHead(200).end('an echo of ada@example.com')
    const { data } = (await api.post(path, { url: receiver.url, types: ['user.registered'] }, admin.access)).body
    await register(api)
    const read = async (token: string) => (await api.get(`${path}/${data.id}/deliveries`, token)).body.data
    await eventually(async () => assert.equal((await read(admin.access)).length, 1))
    const [delivery] = await read(admin.access)
    assert.equal(delivery.response, 'an echo of ada@example.com')
    assert.deepEqual(await read(hooks.access), [{ ...delivery, response: '' }])
    const retry = await api.post(`${path}/${data.id}/deliveries/${delivery.id}/retry`, {}, hooks.access)
    assert.equal(retry.status, 403)
  })
})

onPostgres('a webhook belongs to whoever has changed its address on a node of the previous release', async (t) => {
  const api = await startApiWithRoles(t, { engine: 'postgres' })
  const [owner, other] = [await api.signInAs('admin'), await api.signInAs()]
  const { data } = (await api.post(path, { url: 'http://127.0.0.1:9999/', types: ['*'] }, owner.access)).body
  const changes = { webhook: { from: data.id, to: data.id }, url: { from: data.url, to: 'http://127.0.0.1:9998/' } }
  // What that release writes.
  await api.db.write(
    { sql: 'UPDATE webhooks SET url = $1 WHERE id = $2', params: [changes.url.to, data.id] },
    {
      sql: `INSERT INTO audit (at, event, outcome, actor_id, address, user_agent, changes)
            VALUES ($1, 'webhook_changed', 'success', $2, '', '', $3)`,
      params: [api.clock.nowIso(), other.id, JSON.stringify(changes)],
    },
  )
  assert.deepEqual(await api.db.get('SELECT owner_id FROM webhooks WHERE id = $1', [data.id]), { owner_id: other.id })
})

onAnyEngine('webhooks of the previous release', (engine) => {
  test('belong to whoever said last what is sent where', async (t) => {
    const url = await createDatabaseUrl(t, engine)
    const before = await openDatabase(openOptions({ url, migrations: migrationsBefore(t, '0027') }))
    const to = (value: unknown) => ({ from: null, to: value })
    const [created, widened, moved, renamed, unknown] = ['created', 'widened', 'moved', 'renamed', 'unknown'].map(
      (name) => `https://${name}.example.com/`,
    ) as [string, string, string, string, string]
    const entries: [event: string, actor: number, changes: object][] = [
      ['webhook_created', 1, { url: to(created), types: to(['*']) }],
      ['webhook_created', 2, { url: to(widened), types: to(['product.*']) }],
      ['webhook_changed', 3, { webhook: to(2), types: to(['*']) }],
      ['webhook_created', 4, { url: to('https://elsewhere.example.com/') }],
      ['webhook_changed', 5, { webhook: to(3), url: to(moved) }],
      ['webhook_created', 6, { url: to(renamed) }],
      ['webhook_changed', 7, { webhook: to(4), description: to('Mine') }],
    ]
    for (const address of [created, widened, moved, renamed, unknown]) {
      await before.db.write({
        sql: `INSERT INTO webhooks (url, types, description, secret, position, created_at, updated_at)
              VALUES ($1, '["*"]', '', 'x', 0, $2, $2)`,
        params: [address, '2026-01-01T00:00:00.000Z'],
      })
    }
    for (const [index, [event, actor, changes]] of entries.entries()) {
      await before.db.write({
        sql: `INSERT INTO audit (at, event, outcome, actor_id, address, user_agent, changes)
              VALUES ($1, $2, 'success', $3, '', '', $4)`,
        params: [`2026-01-01T00:00:0${index}.000Z`, event, actor, JSON.stringify(changes)],
      })
    }
    await before.db.close()
    const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
    t.after(() => db.close())
    const owners = await db.all<{ owner_id: number | null }>('SELECT owner_id FROM webhooks ORDER BY id')
    assert.deepEqual(
      owners.map((each) => each.owner_id),
      [1, 3, 5, 6, null],
    )
  })
})
