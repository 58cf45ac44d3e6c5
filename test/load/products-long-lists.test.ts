import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { writtenColumns } from '../../src/features/products/product-columns.store.ts'
import type { Api } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { many, signIn } from '../support/people.ts'
import { idsOf, productsPath, sampleRow } from '../support/products.ts'
import { recordReads } from '../support/record-reads.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

const megabyte = 1_000_000
/** More than the sockets of both sides buffer. */
const hugeBytes = 32 * megabyte

async function fill(
  { db }: ApiWithRoles,
  count: number,
  descriptionOf: (i: number) => string = () => 'short',
): Promise<void> {
  const perWrite = 1000
  for (let start = 0; start < count; start += perWrite) {
    const products = Array.from({ length: Math.min(perWrite, count - start) }, (_, i) => ({
      ...sampleRow,
      name: `Lamp ${String(start + i).padStart(6, '0')}`,
      description: descriptionOf(start + i),
      price_cents: 100 + i,
    }))
    await db.write(insertMany(db.dialect, products, '2026-01-01T00:00:00.000Z'))
  }
}

/** Every third is long, with characters of every length in UTF-8 and some that JSON escapes. */
const mixed = (i: number) => (i % 3 === 0 ? `${i} "é😀\n`.repeat(40_000) : `description ${i}`)

function open(api: Api, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(api.url + path, { method, headers, agent: false }, resolve)
      .on('error', reject)
      .end()
  })
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks)
}

onAnyEngine('a long list', (engine) => {
  // The result of a query holds 270 at most, and lists in memory fewer. On PostgreSQL only the reads differ, which take
  // one long product each.
  const megabytes = engine === 'sqlite' ? amount({ full: 270, otherwise: 40 }) : 40

  test(`with ${megabytes} products of a megabyte each is served completely`, async (t) => {
    const api = await startApiWithRoles(t, { engine })
    await fill(api, 1)
    await api.db.write({ sql: `UPDATE products SET description = $1`, params: ['x'.repeat(megabyte)] })
    const copied = [...writtenColumns, 'created_at', 'updated_at'].join(', ')
    await api.db.write({
      sql: `WITH RECURSIVE copies (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM copies WHERE i < ${megabytes - 1})
            INSERT INTO products (${copied}) SELECT ${copied} FROM products, copies WHERE id = 1`,
    })
    const response = await open(api, `${productsPath}?category=general`)
    assert.equal(response.statusCode, 200)
    let length = 0
    let end = ''
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length
      end = (end + chunk.subarray(-60).toString('latin1')).slice(-60)
    }
    assert.ok(length > megabytes * megabyte && length < (megabytes + 1) * megabyte, `${length} bytes`)
    assert.ok(end.endsWith(`}],"meta":{"total":${megabytes}}}`), end)
  })

  test('is byte for byte the JSON of its products, by search, by category and by page', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    await fill(api, 20, mixed)
    const data: object[] = []
    for (let id = 1; id <= 20; id++) data.push((await api.get(`${productsPath}/${id}`)).body.data)
    for (const [query, meta] of [
      ['q=lamp', { total: 20 }],
      ['q=lamp%200000', { total: 20 }],
      ['category=general', { total: 20 }],
      ['per_page=100', { total: 20, page: 1, per_page: 100, last_page: 1 }],
    ] as const) {
      const response = await open(api, `${productsPath}?${query}`)
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
      assert.equal((await bytesOf(response)).toString(), JSON.stringify({ data, meta }), query)
    }
  })

  test('has an ETag, comes compressed, and without its body for HEAD', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    await fill(api, 20, mixed)
    const path = `${productsPath}?category=general`
    const plain = await open(api, path)
    const body = await bytesOf(plain)
    for (const [accept, decompress] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const response = await open(api, path, { 'accept-encoding': accept })
      assert.equal(response.headers['content-encoding'], accept)
      assert.match(String(response.headers.vary), /accept-encoding/)
      assert.notEqual(response.headers.etag, plain.headers.etag)
      const compressed = await bytesOf(response)
      assert.ok(compressed.length < body.length / 3)
      assert.ok(decompress(compressed).equals(body))
      const again = await open(api, path, { 'if-none-match': String(response.headers.etag), 'accept-encoding': accept })
      assert.deepEqual([again.statusCode, (await bytesOf(again)).length], [304, 0])
    }
    const head = await open(api, path, {}, 'HEAD')
    assert.deepEqual([head.statusCode, head.headers.etag, (await bytesOf(head)).length], [200, plain.headers.etag, 0])
    const known = await open(api, path, { 'if-none-match': String(plain.headers.etag) })
    assert.equal(known.statusCode, 304)
    const { access } = await signIn(api)
    await api.put(`${productsPath}/7`, { stock: 5 }, access)
    const changed = await open(api, path, { 'if-none-match': String(plain.headers.etag) })
    assert.equal(changed.statusCode, 200)
    assert.notEqual(changed.headers.etag, plain.headers.etag)
    await bytesOf(changed)
  })

  test('shows each product once, in one of its versions, whatever changes during the read', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    await fill(api, 30, (i) => `${i} `.repeat(250_000))
    const { access } = await signIn(api)
    const response = await open(api, `${productsPath}?category=general`)
    response.pause()
    await api.put(`${productsPath}/20`, { name: 'AAA first', description: 'changed'.repeat(100_000) }, access)
    await api.put(`${productsPath}/21`, { name: 'AAA second', description: 'short now' }, access)
    await api.put(`${productsPath}/22`, { category: 'other' }, access)
    await api.delete(`${productsPath}/23`, access)
    const { data, meta } = JSON.parse((await bytesOf(response)).toString())
    assert.deepEqual(
      data.map(({ id }: { id: number }) => id),
      Array.from({ length: 30 }, (_, i) => i + 1),
    )
    assert.deepEqual(meta, { total: 30 })
    const { name, description } = data[19].attributes
    const isOld = name === 'Lamp 000019' && description === '19 '.repeat(250_000)
    assert.ok(isOld || (name === 'AAA first' && description === 'changed'.repeat(100_000)))
  })

  test('is read from the database a little at a time, never all at once', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    await fill(api, 40, () => 'x'.repeat(200_000))
    const reads = recordReads(api.db)
    for (const query of ['per_page=100', 'q=lamp', 'category=general']) {
      assert.equal((await api.get(`${productsPath}?${query}`)).body.data.length, 40)
      assert.ok(Math.max(...reads) < 300_000, `${query}: ${Math.max(...reads)} characters at once`)
    }
  })

  test('has no limit if it is 0, and is ordered by name', async (t) => {
    const config = createConfig(t, { products: 'products {\n  collection_limit = 0\n}\n' })
    const api = await startApiWithRoles(t, { engine, config })
    await fill(api, 5000, (i) => (i === 4321 ? 'x'.repeat(100_000) : 'short'))
    await api.db.write({ sql: "UPDATE products SET name = 'A lamp', name_key = 'a lamp' WHERE id = 3000" })
    const expected = [3000, ...Array.from({ length: 5000 }, (_, i) => i + 1).filter((id) => id !== 3000)]
    const etags = new Set<string | null>()
    for (const query of ['q=lamp', 'category=general', 'category=general']) {
      const response = await api.get(`${productsPath}?${query}`)
      assert.deepEqual(idsOf(response), expected, query)
      assert.deepEqual([response.body.meta, response.headers.get('x-truncated')], [{ total: 5000 }, null])
      etags.add(response.headers.get('etag'))
    }
    assert.equal(etags.size, 1)
  })

  test('is cut off at the limit and marked as truncated, even if the limit exceeds the memory bound', async (t) => {
    const config = createConfig(t, { products: 'products {\n  collection_limit = 2500\n}\n' })
    const api = await startApiWithRoles(t, { engine, config })
    await fill(api, 2501)
    for (const query of ['q=lamp', 'category=general']) {
      const response = await api.get(`${productsPath}?${query}`)
      assert.deepEqual([response.body.data.length, response.body.meta], [2500, { total: 2500 }])
      assert.equal(response.headers.get('x-truncated'), 'true')
    }
  })
})

testInFull('many slow readers are all served, and so are small requests meanwhile', async (t) => {
  // On a busy machine the first one waits for long, without having stopped reading.
  const api = await startApiWithRoles(t, { env: { UNREAD_TIMEOUT: '3600' } })
  await fill(api, 20, () => 'x'.repeat(megabyte))
  // More than the queue for long reads allows.
  const responses = await many(140, () => open(api, `${productsPath}?category=general`))
  for (const response of responses) response.pause()
  assert.ok(responses.every(({ statusCode }) => statusCode === 200))
  for (let i = 0; i < 5; i++) assert.equal((await api.get(`${productsPath}/1`)).status, 200)
  for (const response of responses.slice(1)) response.destroy()
  const last = await bytesOf(responses[0] as IncomingMessage)
  assert.match(last.subarray(-30).toString(), /"meta":\{"total":20\}\}$/)
  assert.deepEqual(
    api.log.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test('a client that stops reading is disconnected, one that reads slowly is not', async (t) => {
  // The service looks at its connections when the test says so: ten times within the limit.
  t.mock.timers.enable({ apis: ['setInterval'] })
  const look = (times: number) => t.mock.timers.tick(times * 200)
  const api = await startApiWithRoles(t, {
    env: { UNREAD_TIMEOUT: '2' },
    extend(app) {
      app.get('/huge', { config: { access: 'public' } }, async (_request, reply) => reply.send(Buffer.alloc(hugeBytes)))
    },
  })
  await fill(api, hugeBytes / megabyte, () => 'x'.repeat(megabyte))
  const { port } = new URL(api.url)
  for (const path of ['/huge', `${productsPath}?category=general`]) {
    const silent = connect(Number(port), '127.0.0.1')
    silent.on('error', () => {})
    await once(silent, 'connect')
    silent.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    silent.pause()
    const before = api.log.length
    await eventually(() => {
      look(1)
      assert.ok(api.log.slice(before).some((line) => line.includes('stopped reading')))
    })
    let length = 0
    silent.on('data', (chunk: Buffer) => (length += chunk.length))
    silent.resume()
    await once(silent, 'close')
    assert.ok(length < hugeBytes)

    const slow = await open(api, path)
    let read = 0
    let pauses = 0
    for await (const chunk of slow as AsyncIterable<Buffer>) {
      read += chunk.length
      // Twice the limit in total. What it reads between ten looks is more than the system buffers.
      if (read > (pauses + 1) * 4 * megabyte && pauses < 7) {
        look(3)
        pauses += 1
      }
    }
    assert.deepEqual([pauses, read >= hugeBytes], [7, true], path)
  }
})
