import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { productCreated } from '../../src/features/products/product.events.ts'
import { type Api, shareApi, shareOnEngines, startApi, unlimitedRates } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { many, signIn } from '../support/people.ts'
import { createProduct, lamp, namesOf, productsPath } from '../support/products.ts'

/** Raw bytes: fetch would request compression and decompress. */
function raw(api: Api, path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const sent = request(api.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('an unknown path below the products is 404, and a wrong method 405', async (t) => {
  const api = await startApi(t)
  for (const method of ['GET', 'OPTIONS', 'POST', 'DELETE']) {
    assert.equal((await api.request(method, `${productsPath}/x/y`)).status, 404, method)
  }
  for (const path of [productsPath, `${productsPath}/`]) {
    const collection = await api.request('DELETE', path)
    assert.deepEqual([collection.status, collection.headers.get('allow')], [405, 'GET, HEAD, POST, OPTIONS'])
    assert.equal(collection.headers.get('access-control-allow-origin'), '*')
  }
  assert.equal((await api.get(`${productsPath}/x`)).headers.get('access-control-allow-origin'), '*')
  const one = await api.request('PATCH', `${productsPath}/1`)
  assert.deepEqual([one.status, one.headers.get('allow')], [405, 'GET, HEAD, PUT, DELETE, OPTIONS'])
})

const service = shareOnEngines((owner, engine) => startApi(owner, { engine, env: unlimitedRates }))

onRacingEngine('what clients know of a product', (engine) => {
  const shared = service(engine)

  test('protects an update: only the version that the client has seen is changed', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const made = await api.post(productsPath, lamp, access)
    const etag = made.headers.get('etag') ?? ''
    const one = `${productsPath}/${made.body.data.id}`
    const send = (method: string, ifMatch: string, json?: object) =>
      api.request(method, one, { headers: { 'if-match': ifMatch }, json, token: access })
    for (const wrong of ['"other"', `W/${etag}`, 'nonsense', 'nonsense*', '"other", *', '']) {
      const response = await send('PUT', wrong, { price: 5 })
      assert.deepEqual([response.status, response.body], [412, { error: 'Product has changed' }], wrong)
      assert.equal((await send('DELETE', wrong)).status, 412)
    }
    assert.equal((await send('PUT', '*', { price: 5 })).status, 200)
    assert.equal((await send('PUT', etag, { price: 6 })).status, 412)
    const now = (await api.get(one)).headers.get('etag') ?? ''
    assert.equal((await send('PUT', `"other", ${now}`, { price: 6 })).status, 200)
    assert.equal((await send('DELETE', now)).status, 412)
    assert.equal((await send('DELETE', '*')).status, 204)
    assert.deepEqual((await send('PUT', '*', { price: 6 })).body, { error: 'Product not found' })
  })

  test('two changes of the same state leave one winner', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (let round = 0; round < 5; round++) {
      const id = await createProduct(api, access)
      const etag = (await api.get(`${productsPath}/${id}`)).headers.get('etag') ?? ''
      const responses = await many(8, (i) =>
        api.request(i === 7 ? 'DELETE' : 'PUT', `${productsPath}/${id}`, {
          headers: { 'if-match': etag },
          ...(i < 7 && { json: { stock: 100 + i } }),
          token: access,
        }),
      )
      const winners = responses.filter(({ status }) => status === 200 || status === 204)
      assert.equal(winners.length, 1)
      for (const { status } of responses) assert.ok([200, 204, 404, 412].includes(status), String(status))
    }
  })
})

onAnyEngine('what clients know of a product', (engine) => {
  const shared = service(engine)

  test('is not sent again while it has not changed', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const made = await api.post(productsPath, lamp, access)
    const etag = made.headers.get('etag') ?? ''
    const one = `${productsPath}/${made.body.data.id}`
    assert.match(etag, /^"[^"]+"$/)
    const get = (ifNoneMatch: string, path = one) =>
      api.request('GET', path, { headers: { 'if-none-match': ifNoneMatch } })
    assert.equal((await api.get(one)).headers.get('etag'), etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await get(known)
      assert.deepEqual([response.status, response.body], [304, ''], known)
      assert.ok(response.headers.get('etag')?.endsWith(etag))
    }
    assert.equal((await get('"other"')).status, 200)
    const changed = await api.put(one, { price: 5 }, access)
    assert.notEqual(changed.headers.get('etag'), etag)
    const after = await get(etag)
    assert.deepEqual([after.status, after.headers.get('etag')], [200, changed.headers.get('etag')])

    for (const path of [productsPath, `${productsPath}?q=lamp`, `${productsPath}?category=home`]) {
      const list = await api.get(path)
      const listEtag = list.headers.get('etag') ?? ''
      assert.equal((await get(listEtag, path)).status, 304)
      await api.put(one, { stock: 7 }, access)
      assert.equal((await get(listEtag, path)).status, 200)
    }
  })

  test('comes without its body for HEAD', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const one = `${productsPath}/${await createProduct(api, access)}`
    for (const path of [one, productsPath, `${productsPath}?q=lamp`]) {
      const [head, get] = [await raw(api, path, {}, 'HEAD'), await raw(api, path, {})]
      assert.deepEqual([head.status, head.body.length], [200, 0])
      assert.equal(head.headers.etag, get.headers.etag)
      assert.equal(Number(head.headers['content-length']), get.body.length)
    }
    assert.equal((await raw(api, `${productsPath}/999999`, {}, 'HEAD')).status, 404)
  })

  test('is compressed if the client accepts it and it is long enough', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const [id] = await many(10, () => createProduct(api, access))
    const one = `${productsPath}/${id}`
    const plain = await raw(api, productsPath, {})
    assert.equal(plain.headers['content-encoding'], undefined)
    for (const [accept, encoding] of [
      ['gzip', 'gzip'],
      ['br', 'br'],
      ['gzip, deflate, br', 'br'],
      ['br;q=0.5, gzip', 'gzip'],
      ['br;q=0, gzip;q=0.1', 'gzip'],
      ['*', 'br'],
      ['identity', undefined],
      ['gzip;q=0', undefined],
      ['deflate', undefined],
    ] as const) {
      const response = await raw(api, productsPath, { 'accept-encoding': accept })
      assert.equal(response.headers['content-encoding'], encoding, accept)
      assert.match(String(response.headers.vary), /accept-encoding/)
      const body =
        encoding === 'br'
          ? brotliDecompressSync(response.body)
          : encoding === 'gzip'
            ? gunzipSync(response.body)
            : response.body
      assert.equal(body.toString(), plain.body.toString())
      assert.equal(Number(response.headers['content-length']), response.body.length)
      // Other bytes have another ETag, which is also accepted.
      assert.equal(response.headers.etag === plain.headers.etag, encoding === undefined)
      const again = await raw(api, productsPath, {
        'accept-encoding': accept,
        'if-none-match': String(response.headers.etag),
      })
      assert.equal(again.status, 304)
      assert.equal(again.headers.etag, response.headers.etag)
      assert.match(String(again.headers.vary), /accept-encoding/)
    }
    const small = await raw(api, one, { 'accept-encoding': 'gzip' })
    assert.equal(small.headers['content-encoding'], undefined)
    await api.put(one, { description: 'long '.repeat(1000) }, access)
    const long = await raw(api, one, { 'accept-encoding': 'gzip' })
    assert.equal(long.headers['content-encoding'], 'gzip')
    const changed = await api.request('PUT', one, {
      headers: { 'if-match': String(long.headers.etag) },
      json: { price: 3 },
      token: access,
    })
    assert.equal(changed.status, 200)
  })
})

onRacingEngine('an Idempotency-Key', (engine) => {
  const told: number[] = []
  const shared = shareApi({
    engine,
    env: { JWT_ACCESS_TTL: '200000' },
    extend: (_, { events }) => void events.on(productCreated, ({ id }) => told.push(id)),
  })
  const post = (api: Api, token: string, key: string, json: object = lamp) =>
    api.request('POST', productsPath, { headers: { 'idempotency-key': key }, json, token })

  test('creates one product from many parallel requests, which all get the same response', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const responses = await many(20, () => post(api, access, 'order-1'))
    const [first] = responses
    for (const response of responses) {
      assert.equal(response.status, 201)
      assert.deepEqual(response.body, first?.body)
      for (const header of ['location', 'etag']) assert.equal(response.headers.get(header), first?.headers.get(header))
    }
    assert.equal((await api.get(productsPath)).body.meta.total, 1)
    assert.deepEqual(told, [first?.body.data.id])
  })

  test('is shared by REST and GraphQL: the same key and body are one product', async () => {
    const api = await shared()
    const total = async () => (await api.get(productsPath)).body.meta.total
    const before = await total()
    const [ada, bob] = [await signIn(api), await signIn(api)]
    const query = `mutation ($input: CreateProductInput!, $key: String) {
      createProduct(input: $input, idempotencyKey: $key) { id }
    }`
    const create = async (token: string, key: string | null, input: object = lamp) => {
      const { body } = await api.post('/graphql', { query, variables: { input, key } }, token)
      return { id: Number(body.data?.createProduct?.id), details: body.errors?.[0].extensions.details }
    }
    const { body } = await post(api, ada.access, 'order-1')
    const { id } = body.data
    assert.deepEqual(
      (await many(10, () => create(ada.access, 'order-1'))).map((each) => each.id),
      Array(10).fill(id),
    )
    const second = await create(ada.access, 'order-2')
    assert.notEqual(second.id, id)
    assert.equal((await post(api, ada.access, 'order-2')).body.data.id, second.id)
    assert.notEqual((await create(bob.access, 'order-1')).id, id)
    assert.deepEqual((await create(ada.access, 'order-1', { ...lamp, price: 2 })).details, {
      idempotency_key: ['Was used with another body'],
    })
    assert.deepEqual((await create(ada.access, 'x'.repeat(256))).details, {
      idempotency_key: ['Must be at most 255 characters'],
    })
    assert.equal(await total(), before + 3)
    for (const none of [null, '', ' ']) await create(ada.access, none)
    assert.equal(await total(), before + 6, 'a blank key is none')
  })

  test('is not consumed by a refused request, and expires after a day', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const before = namesOf(await api.get(`${productsPath}?per_page=100`))
    assert.equal((await post(api, access, 'order-1', {})).status, 422)
    const first = await post(api, access, 'order-1')
    api.clock.advance(24 * 3600 - 60)
    assert.equal((await post(api, access, 'order-1')).body.data.id, first.body.data.id)
    api.clock.advance(120)
    const later = await post(api, access, 'order-1', { ...lamp, name: 'Another' })
    assert.equal(later.status, 201)
    assert.notEqual(later.body.data.id, first.body.data.id)
    const after = namesOf(await api.get(`${productsPath}?per_page=100`))
    assert.deepEqual(after, [...before, 'Desk Lamp', 'Another'])
  })
})

onAnyEngine('an Idempotency-Key', (engine) => {
  const shared = service(engine)
  const post = (api: Api, token: string, key: string, json: object = lamp) =>
    api.request('POST', productsPath, { headers: { 'idempotency-key': key }, json, token })

  test('returns the first response again, even if the product has changed since', async () => {
    const api = await shared()
    const before = (await api.get(productsPath)).body.meta.total
    const { access } = await signIn(api)
    const first = await post(api, access, 'order-1')
    const id = first.body.data.id
    await api.put(`${productsPath}/${id}`, { name: 'Changed' }, access)
    assert.deepEqual((await post(api, access, 'order-1')).body, first.body)
    await api.delete(`${productsPath}/${id}`, access)
    assert.deepEqual((await post(api, access, 'order-1')).body, first.body)
    assert.equal((await api.get(productsPath)).body.meta.total, before)
  })

  test('belongs to its user, and to its body', async () => {
    const api = await shared()
    const before = (await api.get(productsPath)).body.meta.total
    const [ada, bob] = [await signIn(api), await signIn(api)]
    const first = await post(api, ada.access, 'order-1')
    assert.notEqual((await post(api, bob.access, 'order-1')).body.data.id, first.body.data.id)
    assert.notEqual((await post(api, ada.access, 'order-2')).body.data.id, first.body.data.id)
    const other = await post(api, ada.access, 'order-1', { ...lamp, price: 2 })
    assert.deepEqual(
      [other.status, other.body],
      [422, { error: 'Validation failed', details: { idempotency_key: ['Was used with another body'] } }],
    )
    assert.equal((await api.get(productsPath)).body.meta.total, before + 3)
    const long = await post(api, ada.access, 'x'.repeat(256))
    assert.deepEqual(long.body.details, { idempotency_key: ['Must be at most 255 characters'] })
  })
})
