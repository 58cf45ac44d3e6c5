import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/platform/changes/change.ts'
import { on } from '../../src/platform/events/events.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { type Api, startApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { password, signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

interface Named {
  attributes: { name: string }
}

/** An extension whose listeners call `handle`. */
function indexing(handle: (text: string, change: Change<Named>) => unknown, name = 'search-index', attempts?: number) {
  const listen = (change: Change<Named>) => handle(`${change.type} ${change.data.attributes.name}`, change)
  return defineFeature({
    name: `feature-of-${name}`,
    create: () => undefined,
    listeners: () => [
      on<Named>('product.created', { durable: name, ...(attempts && { attempts }) }, listen),
      on<Named>('product.deleted', { durable: name }, listen),
    ],
  })
}

async function figure(api: Api, series: string): Promise<number> {
  const page: string = (await api.get('/metrics')).body
  return Number(
    page
      .split('\n')
      .find((each) => each.startsWith(`${series} `))
      ?.slice(series.length),
  )
}

onRacingEngine('durable listeners', (engine) => {
  test('get each change of their types in order, and go on after a stop where they were', async (t) => {
    const told: string[] = []
    const changes: Change<Named>[] = []
    const extensions = [
      indexing((text, change) => {
        told.push(text)
        changes.push(change)
      }),
    ]
    const api = await startApi(t, { engine, extensions })
    const { access } = await signIn(api)
    const lag = 'durable_listener_lag_seconds{listener="search-index"}'
    await eventually(async () => assert.equal(await figure(api, 'change_log_readers'), 1))
    const id = await createProduct(api, access, { name: 'One' })
    await api.put(`${productsPath}/${id}`, { price: 7 }, access)
    await api.delete(`${productsPath}/${id}`, access)
    await eventually(() => assert.deepEqual(told, ['product.created One', 'product.deleted One']))
    assert.equal(changes[0]?.data.attributes.name, 'One')
    assert.deepEqual(
      changes.map(({ version }) => version),
      [1, 3],
    )
    await eventually(async () => assert.equal(await figure(api, lag), 0))
    await api.app.close()

    // Without it for a while.
    const without = await startApi(t, { engine, env: { DATABASE_URL: api.databaseUrl } })
    await createProduct(without, (await signIn(without)).access, { name: 'Meanwhile' })
    await without.app.close()
    const again = await startApi(t, { engine, extensions, env: { DATABASE_URL: api.databaseUrl } })
    await createProduct(again, (await signIn(again)).access, { name: 'After' })
    await eventually(() => assert.deepEqual(told.slice(2), ['product.created Meanwhile', 'product.created After']))
  })

  test('what fails as often as it may is set aside with the position, through a restart, and can be retried', async (t) => {
    const told: string[] = []
    const poison = { isOn: true, calls: 0 }
    const extensions = [
      indexing(
        (text) => {
          if (text.endsWith('Poison')) poison.calls += 1
          if (text.endsWith('Poison') && poison.isOn) throw new Error('bad data')
          told.push(text)
        },
        'search-index',
        3,
      ),
    ]
    const api = await startApi(t, { engine, extensions })
    const { access } = await signIn(api)
    await eventually(async () => assert.equal(await figure(api, 'change_log_readers'), 1))
    for (const name of ['Before', 'Poison', 'After']) await createProduct(api, access, { name })
    await eventually(() => assert.equal(poison.calls, 1))
    await api.app.close()
    const again = await startApiWithRoles(t, { engine, extensions, env: { DATABASE_URL: api.databaseUrl } })
    // The restart takes no attempt back, and gives none.
    await eventually(() => assert.ok(told.includes('product.created After')))
    assert.equal(poison.calls, 3)
    assert.deepEqual(told, ['product.created Before', 'product.created After'])
    assert.equal(await figure(again, 'dead_letters_total{listener="search-index"}'), 1)
    assert.equal(await figure(again, 'dead_letters{listener="search-index"}'), 1)

    const admin = await again.signInAs('admin')
    const listed = await again.get('/api/admin/dead-letters', admin.access)
    const [{ id, failed_at, ...letter }] = listed.body.data
    assert.deepEqual(letter, {
      listener: 'search-index',
      type: 'product.created',
      entity_id: 2,
      attempts: 3,
      error: 'bad data',
      retrying: false,
    })
    const retry = () => again.post(`/api/admin/dead-letters/${id}/retry`, {}, admin.access)
    const list = async () => (await again.get('/api/admin/dead-letters', admin.access)).body.data
    assert.equal((await retry()).status, 204)
    await eventually(async () => assert.equal((await list())[0].attempts, 4))
    assert.equal((await list())[0].retrying, false)
    poison.isOn = false
    await again.post('/api/admin/dead-letters/retry', {}, admin.access)
    await eventually(async () => assert.deepEqual(await list(), []))
    assert.deepEqual(told.slice(2), ['product.created Poison'])
    assert.equal((await retry()).status, 404)
  })
})

onAnyEngine('durable listeners', (engine) => {
  test('what fails is repeated before anything that follows, and shows in the metrics', async (t) => {
    const told: string[] = []
    let failures = 2
    const extensions = [
      indexing(async (text) => {
        if (text.endsWith('Difficult') && failures-- > 0) throw new Error('not now')
        told.push(text)
      }),
    ]
    const api = await startApi(t, { engine, extensions })
    const { access } = await signIn(api)
    await eventually(async () => assert.equal(await figure(api, 'change_log_readers'), 1))
    for (const name of ['Easy', 'Difficult', 'Next']) await createProduct(api, access, { name })
    const failed = 'durable_listener_failures_total{listener="search-index"}'
    await eventually(async () => assert.ok((await figure(api, failed)) >= 1))
    api.clock.advance(60)
    assert.ok((await figure(api, 'durable_listener_lag_seconds{listener="search-index"}')) >= 60)
    const expected = ['Easy', 'Difficult', 'Next'].map((name) => `product.created ${name}`)
    await eventually(() => assert.deepEqual(told, expected))
    assert.equal(await figure(api, failed), 2)
    assert.match(api.log.join(''), /not now.*a durable listener failed/)
  })

  test('dead letters are for administrators, who discard them one by one or all at once', async (t) => {
    const extensions = [
      indexing(
        () => {
          throw new Error('always')
        },
        'search-index',
        1,
      ),
    ]
    const api = await startApiWithRoles(t, { engine, extensions })
    const [admin, user] = [await api.signInAs('admin'), await api.signInAs('editor')]
    await eventually(async () => assert.equal(await figure(api, 'change_log_readers'), 1))
    for (let i = 0; i < 3; i++) await createProduct(api, admin.access, { name: `Lamp ${i}` })
    const path = '/api/admin/dead-letters'
    const list = async () => (await api.get(path, admin.access)).body.data
    await eventually(async () => assert.equal((await list()).length, 3))
    assert.equal((await api.get(path)).status, 401)
    assert.equal((await api.get(path, user.access)).status, 403)
    assert.equal((await api.delete(path, user.access)).status, 403)
    const [{ id }] = await list()
    assert.equal((await api.delete(`${path}/${id}`, user.access)).status, 403)
    const browser = openConsole(api)
    await browser.signIn(admin.email, password)
    const page = await browser.open('/console/dead-letters')
    assert.match(page.text, /search-index.*product\.created.*always/)
    assert.equal((await browser.submit(`/console/dead-letters/${id}/discard`)).status, 303)
    assert.equal((await list()).length, 2)
    assert.equal((await api.delete(path, admin.access)).status, 204)
    assert.deepEqual(await list(), [])
    const audit = await api.get(
      '/api/admin/audit?filter[event]=dead_letter_discarded&filter[outcome]=success',
      admin.access,
    )
    assert.equal(audit.body.data.length, 2)
  })
})
