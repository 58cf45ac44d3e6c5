import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/platform/changes/change.ts'
import { on } from '../../src/platform/events/events.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { type Api, startApi } from '../support/api.ts'
import { onEachEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'

interface Named {
  attributes: { name: string }
}

/** An extension whose listeners call `handle`. */
function indexing(handle: (text: string, change: Change<Named>) => unknown, name = 'search-index') {
  const listen = (change: Change<Named>) => handle(`${change.type} ${change.data.attributes.name}`, change)
  return defineFeature({
    name: `feature-of-${name}`,
    create: () => undefined,
    listeners: () => [
      on<Named>('product.created', { durable: name }, listen),
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

onEachEngine('durable listeners', (engine) => {
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
    assert.ok(Number(changes[1]?.cursor) > Number(changes[0]?.cursor))
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
})
