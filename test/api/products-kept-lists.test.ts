/** Lists that are sent again while nothing changes are never older than a change that somebody knows of. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type Owner, share, startApi } from '../support/api.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { send } from '../support/own-connection.ts'
import { signIn } from '../support/people.ts'
import { lamp, productsPath } from '../support/products.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

interface List {
  data: { id: number; attributes: { name: string; price: number } }[]
  meta: { total: number | null }
}

async function start(t: Owner, engine: Dialect) {
  const databaseUrl = await createDatabaseUrl(t, engine, { isMigrated: true })
  const api = await startApi(t, { engine, threads: 2, env: { DATABASE_URL: databaseUrl } })
  const { access: token } = await signIn(api)
  // Each over a connection of its own, so that either thread may get it.
  const write = async (method: string, path: string, json?: object) => {
    const { status, body } = await send(`${api.url}${path}`, { method, token, ...(json && { json }) })
    assert.ok(status < 300, body)
    return body === '' ? undefined : (JSON.parse(body) as { data: { id: number } }).data
  }
  const list = async (category: string, more = '', sort = '-price') => {
    const { status, body } = await send(`${api.url}${productsPath}?sort=${sort}&filter[category]=${category}${more}`)
    assert.equal(status, 200, body)
    return JSON.parse(body) as List
  }
  const create = async (category: string, price = 1) =>
    (await write('POST', productsPath, { ...lamp, category, price }))?.id as number
  return { databaseUrl, write, list, create }
}

/** As from a shell of the database. */
async function openShell(t: Owner, databaseUrl: string): Promise<(sql: string) => Promise<void>> {
  if (databaseUrl.startsWith('file:')) {
    const db = new DatabaseSync(databaseUrl.slice('file:'.length), { timeout: 10_000 })
    t.after(() => db.close())
    return async (sql) => db.exec(sql)
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  t.after(() => client.end())
  return async (sql) => void (await client.query(sql))
}

onEachEngine('lists that are sent again', (engine) => {
  const shared = share((owner) => start(owner, engine))

  test('whoever has changed a product finds it in the next list, on two threads, while others change theirs', async () => {
    const { write, list, create } = await shared()
    const id = await create('busy')
    let created = 1
    let price = 1
    const writers = Array.from({ length: 4 }, async () => {
      for (let i = 0; i < amount({ full: 30, otherwise: 8 }); i++) {
        await create('busy')
        created += 1
        const known = created
        const { meta } = await list('busy')
        assert.ok((meta.total ?? 0) >= known, `${meta.total} of at least ${known}`)
      }
    })
    const editor = async () => {
      for (let i = 0; i < amount({ full: 60, otherwise: 16 }); i++) {
        price += 1
        await write('PUT', `${productsPath}/${id}`, { price })
        const lists = await Promise.all([list('busy'), list('busy'), list('busy')])
        assert.deepEqual(
          lists.map(({ data }) => [data[0]?.id, data[0]?.attributes.price]),
          lists.map(() => [id, price]),
        )
      }
    }
    await Promise.all([...writers, editor()])
    assert.equal((await list('busy')).meta.total, created)
    await write('DELETE', `${productsPath}/${id}`)
    const { data, meta } = await list('busy')
    assert.deepEqual([meta.total, data.some((each) => each.id === id)], [created - 1, false])
  })

  test('what other programs write to the database is in the next list', async (t) => {
    const { databaseUrl, list, create } = await shared()
    const run = await openShell(t, databaseUrl)
    const id = await create('shell')
    for (const name of ['One', 'Two', 'Three']) {
      for (let i = 0; i < 4; i++) await list('shell')
      await run(`UPDATE products SET name = '${name}' WHERE id = ${id}`)
      assert.equal((await list('shell')).data[0]?.attributes.name, name)
      assert.equal((await list('shell')).data[0]?.attributes.name, name)
    }
    await run(`DELETE FROM products WHERE id = ${id}`)
    assert.deepEqual((await list('shell')).data, [])
  })

  // The same statement on both.
  const testOfStatement = engine === 'sqlite' ? test : testInFull
  testOfStatement('the total of a filter is exact up to 10,000, in any order', async (t) => {
    const { databaseUrl, list } = await shared()
    const run = await openShell(t, databaseUrl)
    const insert = (category: string, count: number) =>
      run(`INSERT INTO products (name, name_key, slug, description, price_cents, category, created_at, updated_at)
           WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
           SELECT 'N', 'n', 'n', '', i, '${category}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM numbers`)
    await insert('many', 10_001)
    await insert('some', 1500)
    for (const sort of ['price', '-stock', 'name', 'updated_at', 'id']) {
      assert.equal((await list('some', '', sort)).meta.total, 1500, sort)
    }
    assert.equal((await list('some', '&filter[price][lte]=10')).meta.total, 1000)
    assert.equal((await list('some', '&filter[stock]=0')).meta.total, 1500)
    assert.equal((await list('many')).meta.total, null)
    await run(`DELETE FROM products WHERE id = (SELECT min(id) FROM products WHERE category = 'many')`)
    assert.equal((await list('many')).meta.total, 10_000)
  })

  if (engine === 'postgres') {
    test('a transaction that has begun before others and commits after them is in the next list', async (t) => {
      const { databaseUrl, write, list, create } = await shared()
      const [slow, other] = [await create('late', 5), await create('late', 9)]
      const run = await openShell(t, databaseUrl)
      await run('BEGIN')
      // Takes its place in the log now.
      await run(`UPDATE products SET name = 'Slow' WHERE id = ${slow}`)
      for (let price = 10; price < 13; price++) {
        await write('PUT', `${productsPath}/${other}`, { price })
        for (let i = 0; i < 3; i++) assert.equal((await list('late')).data[0]?.attributes.price, price)
      }
      await run('COMMIT')
      for (let i = 0; i < 3; i++) assert.equal((await list('late')).data[1]?.attributes.name, 'Slow')
      await run('TRUNCATE products')
      for (let i = 0; i < 3; i++) assert.deepEqual((await list('late')).data, [])
    })
  }
})
