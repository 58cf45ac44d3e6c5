/** /graphql over HTTP: methods, media types, tokens and the error format. Independent of the database. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { negotiate } from '../../src/platform/graphql/http/media-types.ts'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import { type Api, shareApi, startApi } from '../support/api.ts'
import { keepBusy } from '../support/busy-loop.ts'
import { codeOf, graphqlPath, send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'

const newer = 'application/graphql-response+json'
const older = 'application/json'

const get = (api: Api, parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  api.request('GET', `${graphqlPath}?${new URLSearchParams(parameters)}`, { headers })

describe('/graphql over HTTP', () => {
  /** For tests that write nothing. */
  const shared = shareApi()
  const seen: unknown[] = []
  const withElements = shareApi({
    elements: [
      query({ name: 'long', type: 'String', access: 'public', resolve: () => 'x'.repeat(10_000) }),
      query<{ n: number }>({
        name: 'seen',
        type: 'Int',
        args: { n: 'Int' },
        access: 'public',
        resolve: ({ n }) => void seen.push(n, ({} as { polluted?: unknown }).polluted),
      }),
    ],
  })

  test('GET takes the query, its variables as JSON and the name of the operation', async () => {
    const api = await shared()
    const response = await get(api, {
      query: 'query A($n: Int) { posts(limit: $n) { id } } query B { me { id } }',
      variables: '{"n": 1}',
      operationName: 'A',
    })
    assert.deepEqual([response.status, response.body], [200, { data: { posts: [] } }])
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    for (const path of [graphqlPath, `${graphqlPath}/`]) {
      assert.equal((await api.get(`${path}?query={__typename}`)).status, 200, path)
    }
    const head = await api.request('HEAD', `${graphqlPath}?query={__typename}`)
    assert.deepEqual([head.status, head.headers.get('content-length'), head.body], [200, '31', ''])
  })

  test('a mutation over GET is 405 with Allow: POST, and does nothing', async () => {
    const api = await shared()
    const document = 'mutation M { createPost(title: "a", body: "b") } query Q { posts { id } }'
    for (const method of ['GET', 'HEAD']) {
      const path = `${graphqlPath}?${new URLSearchParams({ query: document, operationName: 'M' })}`
      const response = await api.request(method, path)
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
      if (method === 'GET') assert.equal(codeOf(response.body), 'METHOD_NOT_ALLOWED')
    }
    assert.deepEqual((await get(api, { query: document, operationName: 'Q' })).body, { data: { posts: [] } })
  })

  test('an invalid request is 400, whatever the client accepts', async () => {
    const api = await shared()
    for (const accept of [older, newer]) {
      for (const json of [
        {},
        { query: '' },
        { query: '  ' },
        { query: 1 },
        { query: null },
        { query: '{ __typename }', variables: 'x' },
        { query: '{ __typename }', variables: [] },
        { query: '{ __typename }', operationName: 7 },
        { query: '{ __typename }', extensions: 'x' },
      ]) {
        const { status, body, headers } = await api.request('POST', graphqlPath, { json, headers: { accept } })
        assert.deepEqual([status, codeOf(body)], [400, 'BAD_REQUEST'], JSON.stringify(json))
        assert.equal(headers.get('content-type'), `${accept}; charset=utf-8`)
      }
      for (const body of ['', '{', 'null', '"x"', '7', new Uint8Array([0x22, 0xff, 0x22])]) {
        const headers = { accept, 'content-type': older }
        const response = await api.request('POST', graphqlPath, { body, headers })
        assert.deepEqual([response.status, codeOf(response.body)], [400, 'BAD_REQUEST'], String(body))
      }
      assert.equal((await get(api, {}, { accept })).status, 400)
      for (const variables of ['{', '[]', '"x"', '7']) {
        assert.equal((await get(api, { query: '{ __typename }', variables }, { accept })).status, 400, variables)
      }
    }
    const twice = await api.get(`${graphqlPath}?query={__typename}&query={__typename}`)
    assert.equal(twice.status, 400)
  })

  test('an invalid document is 200 as application/json and 400 as application/graphql-response+json', async () => {
    const api = await shared()
    for (const [document, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ unknown }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query A { __typename } query B { __typename }', 'OPERATION_RESOLUTION_FAILURE'],
      ['query ($n: Int!) { posts(limit: $n) { id } }', 'BAD_USER_INPUT'],
    ] as const) {
      for (const [accept, status] of [
        [older, 200],
        ['*/*', 200],
        [newer, 400],
        [`${newer}, ${older};q=0.9`, 400],
      ] as const) {
        const response = await send(api, document, { headers: { accept } })
        assert.deepEqual([response.status, codeOf(response.body)], [status, code], `${document} ${accept}`)
        assert.ok(!('data' in response.body))
      }
    }
    // A failed field is still a valid response.
    const partly = await send(api, '{ post(id: 1) { id } }', { headers: { accept: newer } })
    assert.deepEqual([partly.status, partly.body.data, codeOf(partly.body)], [200, { post: null }, 'NOT_FOUND'])
  })

  test('the response has the content type that the client prefers', () => {
    for (const [accept, json, stream] of [
      ['application/json', older, 'refused'],
      ['application/*', older, 'refused'],
      ['*/*;q=0.1', older, 'refused'],
      ['', older, 'refused'],
      [newer, newer, 'refused'],
      [`${newer}, ${older}`, newer, 'refused'],
      [`${older}, ${newer}`, older, 'refused'],
      [`${newer};q=0.5, ${older}`, older, 'refused'],
      [`${newer}, */*`, newer, 'refused'],
      [`${older};q=0, */*`, newer, 'refused'],
      ['APPLICATION/JSON; CHARSET="UTF-8"', older, 'refused'],
      ['application/json; charset=latin1', undefined, 'refused'],
      ['text/html, application/xhtml+xml, */*;q=0.8', older, 'refused'],
      ['text/html', undefined, 'refused'],
      ['text/*', undefined, 'refused'],
      ['text/event-stream', undefined, 'preferred'],
      [`text/event-stream, ${older}`, older, 'preferred'],
      [`${older}, text/event-stream`, older, 'accepted'],
      [`text/event-stream;q=0, ${older}`, older, 'refused'],
      ['application/json;q=0', undefined, 'refused'],
      ['application/json;q=none', undefined, 'refused'],
    ] as const) {
      assert.deepEqual(negotiate(accept), { json, stream }, accept)
    }
  })

  test('a client that accepts neither content type gets 406 before anything is executed', async () => {
    const api = await shared()
    const response = await send(api, 'mutation { createPost(title: "a", body: "b") }', {
      headers: { accept: 'text/html' },
    })
    assert.deepEqual([response.status, codeOf(response.body)], [406, 'NOT_ACCEPTABLE'])
    assert.deepEqual((await send(api, '{ posts { id } }')).body.data.posts, [])
  })

  test('a POST must be JSON in UTF-8; forms and other types are 415', async () => {
    const api = await shared()
    const body = '{"query":"{ __typename }"}'
    const postAs = (type: string) => api.request('POST', graphqlPath, { body, headers: { 'content-type': type } })
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON;charset="UTF-8"',
      'application/json; charset=utf8',
    ]) {
      assert.equal((await postAs(type)).status, 200, type)
    }
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'application/graphql',
      'application/jsonp',
      'application/graphql+json',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'nonsense',
    ]) {
      const response = await postAs(type)
      assert.deepEqual([response.status, codeOf(response.body)], [415, 'UNSUPPORTED_MEDIA_TYPE'], type)
    }
    const form = await api.request('POST', graphqlPath, { form: { query: '{ __typename }' } })
    assert.equal(form.status, 415)
  })

  test('all errors on /graphql have the GraphQL format, and the REST format everywhere else', async () => {
    const api = await shared()
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const response = await api.request(method, graphqlPath, { json: { query: '{ __typename }' } })
      assert.equal(response.status, 405, method)
      assert.equal(response.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
      assert.deepEqual(response.body, {
        errors: [{ message: 'Method not allowed', extensions: { code: 'METHOD_NOT_ALLOWED' } }],
      })
      assert.ok(response.headers.get('x-request-id'))
    }
    const large = await api.request('POST', graphqlPath, { json: { query: 'x'.repeat(1024 * 1024) } })
    assert.deepEqual([large.status, codeOf(large.body)], [413, 'REQUEST_TOO_LARGE'])
    for (const path of ['/graphql/nope', '/graphqlx', '/nope']) {
      assert.deepEqual((await api.get(path)).body, { error: 'Not found' }, path)
    }
    assert.deepEqual((await api.request('PUT', '/me')).body, { error: 'Method not allowed' })
  })

  test('load shedding uses the GraphQL error format', async (t) => {
    const api = await startApi(t, {
      env: { MAX_EVENT_LOOP_DELAY_MS: '1' },
      extend: keepBusy,
    })
    for (const end = performance.now() + 60_000; performance.now() < end; ) {
      const { status, body, headers } = await send(api, '{ __typename }')
      if (status === 200) continue
      assert.deepEqual([status, codeOf(body), headers.get('retry-after')], [503, 'SERVICE_UNAVAILABLE', '1'])
      return
    }
    assert.fail('no load was shed')
  })

  test('a token is optional; an invalid one is 401 before the body is parsed', async () => {
    const api = await shared()
    const user = await signIn(api)
    const me = { query: '{ me { id } }' }
    assert.deepEqual((await api.post(graphqlPath, me)).body, { data: { me: null } })
    assert.deepEqual((await api.post(graphqlPath, me, user.access)).body, { data: { me: { id: String(user.id) } } })
    assert.equal((await get(api, me, { authorization: `bearer ${user.access}` })).body.data.me.id, String(user.id))

    for (const authorization of ['Bearer nonsense', `Bearer ${user.refresh}`, 'Basic dTpw', 'Bearer', user.access]) {
      for (const accept of [older, newer, 'text/event-stream']) {
        const response = await api.request('POST', graphqlPath, {
          body: 'not even JSON',
          headers: { authorization, accept, 'content-type': older },
        })
        assert.deepEqual([response.status, codeOf(response.body)], [401, 'UNAUTHENTICATED'], authorization)
        const hasToken = authorization.startsWith('Bearer ')
        assert.equal(response.headers.get('www-authenticate'), hasToken ? 'Bearer error="invalid_token"' : 'Bearer')
      }
      assert.equal((await get(api, me, { authorization })).status, 401)
    }
    await api.post('/api/auth/logout', {}, user.access)
    assert.equal((await api.post(graphqlPath, me, user.access)).status, 401)
  })

  test('a session that ends while the body arrives is noticed', async () => {
    const api = await shared()
    const user = await signIn(api)
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('{"query":'))
        await new Promise((resolve) => setTimeout(resolve, 200))
        await api.post('/api/auth/logout', {}, user.access)
        controller.enqueue(new TextEncoder().encode('"{ me { id } }"}'))
        controller.close()
      },
    })
    const response = await fetch(api.url + graphqlPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.access}`, 'content-type': older },
      body,
      duplex: 'half',
    } as RequestInit)
    assert.equal(response.status, 401)
  })

  test('cookies are ignored', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const cookie of [`access_token=${access}`, `Authorization=Bearer ${access}`, `token=${access}; session=x`]) {
      assert.deepEqual((await send(api, '{ me { id } }', { headers: { cookie } })).body, { data: { me: null } })
    }
  })

  test('responses to requests with a token are not cached, and caches vary by Authorization', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const mine = await get(api, { query: '{ me { id } }' }, { authorization: `Bearer ${access}` })
    assert.equal(mine.headers.get('cache-control'), 'no-store')
    const open = await get(api, { query: '{ me { id } }' })
    assert.equal(open.headers.get('cache-control'), 'no-cache')
    for (const { headers } of [mine, open]) assert.match(headers.get('vary') ?? '', /accept, authorization/)
  })

  test('a long response is compressed if the client accepts it', async () => {
    const api = await withElements()
    const headers = { 'content-type': older, 'accept-encoding': 'br' }
    const body = '{"query":"{ long }"}'
    const bytes = await new Promise<{ encoding: unknown; text: string }>((resolve, reject) => {
      const sent = request(api.url + graphqlPath, { method: 'POST', headers }, async (response) => {
        const chunks = await response.toArray()
        const text = brotliDecompressSync(Buffer.concat(chunks)).toString()
        resolve({ encoding: response.headers['content-encoding'], text })
      })
      sent.on('error', reject).end(body)
    })
    assert.equal(bytes.encoding, 'br')
    assert.equal(JSON.parse(bytes.text).data.long.length, 10_000)
  })

  test('a batch returns its results in order, each as if it had been sent alone', async () => {
    const api = await withElements()
    const batch = (json: unknown, headers = {}) => api.request('POST', graphqlPath, { json, headers })
    const { status, body } = await batch([
      { query: 'mutation { createPost(title: "a", body: "b") }' },
      { query: '{ posts { id } }' },
      { query: '{ unknown }' },
      { query: 'query ($n: Int) { posts(limit: $n) { title } }', variables: { n: 1 } },
      { query: 'subscription { counter { count } }' },
      {},
      'text',
      null,
      [],
    ])
    assert.equal(status, 200)
    assert.deepEqual(
      body.map((each: { data?: unknown; errors?: { extensions: { code: string } }[] }) =>
        each.data === undefined ? each.errors?.[0]?.extensions.code : each.data,
      ),
      [
        { createPost: 1 },
        { posts: [{ id: '1' }] },
        'GRAPHQL_VALIDATION_FAILED',
        { posts: [{ title: 'a' }] },
        ...Array<string>(5).fill('BAD_REQUEST'),
      ],
    )
    const one = { query: '{ __typename }' }
    const most = await batch(Array(10).fill(one))
    assert.deepEqual([most.status, most.body.length], [200, 10])
    for (const wrong of [[], Array(11).fill(one)]) {
      for (const accept of [older, newer]) {
        const response = await batch(wrong, { accept })
        assert.deepEqual([response.status, codeOf(response.body)], [400, 'BAD_REQUEST'], `${wrong.length} ${accept}`)
      }
    }
    assert.equal((await batch([one], { accept: 'text/event-stream' })).status, 406)
    assert.equal((await batch([one], { accept: newer })).headers.get('content-type'), `${newer}; charset=utf-8`)
  })

  test('a subscription without an event stream is refused with a message that says what it needs', async () => {
    const api = await shared()
    for (const accept of [older, newer, '*/*']) {
      const response = await send(api, 'subscription { counter { count } }', { headers: { accept } })
      assert.equal(response.status, 400)
      assert.match(response.body.errors[0].message, /text\/event-stream.*WebSocket/)
    }
  })

  test('introspection works if the playground is on, and reveals nothing if it is off', async (t) => {
    const open = await shared()
    assert.equal((await send(open, '{ __schema { queryType { name } } }')).body.data.__schema.queryType.name, 'Query')
    assert.match((await send(open, '{ post { id } }')).body.errors[0].message, /id/)
    const closed = await startApi(t, { env: { GQL_PLAYGROUND: 'false' } })
    for (const document of ['{ __schema { queryType { name } } }', '{ __type(name: "Post") { name } }']) {
      for (let i = 0; i < 5; i++) {
        assert.equal((await send(closed, document)).body.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED')
      }
    }
    const update = 'mutation ($i: UpdateProductInput!) { updateProduct(id: 1, input: $i) { id } }'
    for (const [document, variables] of [
      ['{ pots { id } }', {}],
      ['{ posts { titl } }', {}],
      ['{ posts(limt: 1) { id } }', {}],
      ['{ posts { id } } fragment F on Pots { id }', {}],
      [update, { i: { nam: 'x' } }],
    ] as const) {
      for (let i = 0; i < 5; i++) {
        const { body } = await send(closed, document, { variables })
        assert.ok(body.errors, document)
        assert.doesNotMatch(JSON.stringify(body), /Did you mean/, document)
      }
    }
    assert.deepEqual((await send(closed, '{ __typename posts { __typename } }')).body.data, {
      __typename: 'Query',
      posts: [],
    })
  })

  test('a key that would poison a prototype is left out', async () => {
    const api = await withElements()
    const variables = '{"n":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const query_ = 'query ($n: Int) { seen(n: $n) }'
    const body = `{"query":"${query_}","variables":${variables},"__proto__":{"query":"x"}}`
    const posted = await api.request('POST', graphqlPath, { body, headers: { 'content-type': older } })
    assert.deepEqual(posted.body, { data: { seen: null } })
    assert.deepEqual((await get(api, { query: query_, variables })).body, { data: { seen: null } })
    assert.deepEqual(seen, [1, undefined, 1, undefined])
  })
})
