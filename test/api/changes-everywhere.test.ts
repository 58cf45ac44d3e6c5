/** Whatever changes a product, and whoever does, is in the change log. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from '../../src/platform/database/database.ts'
import { startApi } from '../support/api.ts'
import { openChanges, readChanges, told } from '../support/changes.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { latchkey } from '../support/process.ts'
import { createProduct, productsPath } from '../support/products.ts'

const list = '/console/products'

onAnyEngine('the change log', (engine) => {
  test('has what REST, GraphQL and the console do, undoing included, and who did it', async (t) => {
    const databases: Database[] = []
    const api = await startApi(t, { engine, extend: (_app, { db }) => void databases.push(db) })
    const [ada, bob] = [await signIn(api, 'ada@example.com'), await signIn(api, 'bob@example.com')]
    const { cursor } = (await readChanges(api)).body.meta

    await createProduct(api, ada.access, { name: 'By REST' })
    const input = { name: 'By GraphQL', description: 'x', price: 1 }
    const created = await send(api, 'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }', {
      variables: { input },
      token: bob.access,
    })
    const { id } = created.body.data.createProduct
    const update = 'mutation ($id: ID!) { updateProduct(id: $id, input: { name: "Renamed" }) { id } }'
    await send(api, update, { variables: { id }, token: ada.access })
    const browser = openConsole(api)
    await browser.signIn('bob@example.com')
    await browser.open(`${list}/${id}`)
    await browser.follow(await browser.submit(`${list}/${id}/delete`))
    await browser.submit(`${list}/${id}/restore`)
    await browser.open(`${list}/new`)
    await browser.submit(list, { name: 'By form', description: 'x', price: '1', stock: '0', category: '' })
    await send(api, 'mutation ($id: ID!) { deleteProduct(id: $id) }', { variables: { id }, token: ada.access })

    const { data } = (await readChanges(api, { after: cursor })).body
    assert.deepEqual(told(data), [
      'created By REST',
      'created By GraphQL',
      'updated Renamed',
      'deleted Renamed',
      'restored Renamed',
      'created By form',
      'deleted Renamed',
    ])
    const actors = await databases[0]?.all<{ actor_id: number }>(
      "SELECT actor_id FROM changes WHERE topic = 'products' ORDER BY id",
    )
    assert.deepEqual(
      actors?.map(({ actor_id }) => actor_id),
      [ada.id, bob.id, ada.id, bob.id, bob.id, bob.id, ada.id],
    )
  })

  test('does not say that the last editor made a change of a database shell or of an older program', async (t) => {
    const databases: Database[] = []
    const api = await startApi(t, { engine, extend: (_app, { db }) => void databases.push(db) })
    const [db] = databases as [Database]
    const [ada, bob] = [await signIn(api), await signIn(api)]
    const id = await createProduct(api, ada.access)
    const path = `${productsPath}/${id}`
    const set = (assignments: string) =>
      db.write({ sql: `UPDATE products SET ${assignments} WHERE id = $1`, params: [id] })
    await api.put(path, { price: 2 }, ada.access)
    const { headers } = await api.get(path)
    await set('stock = 7')
    assert.notEqual((await api.get(path)).headers.get('etag'), headers.get('etag'), 'the row has another version')
    await set('stock = 8, version = version + 1')
    await api.put(path, { price: 3 }, ada.access)
    await set('deleted_at = updated_at')
    await set('deleted_at = NULL, version = version + 1')
    // As nodes of the previous release change a product.
    await set(`version = version + 1, changed_by = ${bob.id}`)
    await set(`version = version + 1, changed_by = ${bob.id}`)
    await db.write({ sql: 'DELETE FROM products WHERE id = $1', params: [id] })

    const entries = await db.all<{ type: string; actor_id: number | null; data: string }>(
      "SELECT type, actor_id, data FROM changes WHERE topic = 'products' ORDER BY id",
    )
    assert.deepEqual(
      entries.map(({ type, actor_id }) => `${type.replace('product.', '')} by ${actor_id}`),
      [
        `created by ${ada.id}`,
        `updated by ${ada.id}`,
        'updated by null',
        'updated by null',
        `updated by ${ada.id}`,
        'deleted by null',
        'restored by null',
        `updated by ${bob.id}`,
        'updated by null',
        'deleted by null',
      ],
    )
    const versions = entries.map(({ type, data }) => JSON.parse(data).version + (type === 'product.deleted' ? 1 : 0))
    assert.deepEqual(versions, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('has what is imported by another process, for those who listen too', async (t) => {
    const api = await startApi(t, { engine })
    const stream = await openChanges(t, api.url)
    const file = join(temporaryFolder(t), 'products.csv')
    const names = Array.from({ length: 30 }, (_, i) => `Imported ${i}`)
    writeFileSync(file, ['name,description,price', ...names.map((name) => `${name},x,1`)].join('\n'))
    const { code, stderr } = await latchkey(['products:import', file], { env: { DATABASE_URL: api.databaseUrl } })
    assert.equal(code, 0, stderr)
    await eventually(() =>
      assert.deepEqual(
        told(stream.changes),
        names.map((name) => `created ${name}`),
      ),
    )
  })
})
