/** The WebSocket of the console: authenticated by the browser session, for the console's own pages only. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { productCreated } from '../../src/features/products/product.events.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type ApiOptions, shareService } from '../support/api.ts'
import { type ConsoleBrowser, type ConsolePage, openConsole } from '../support/console.ts'
import { createDatabaseUrl, engines, onAnyEngine, testServer } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { again, password, type SignedIn, signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const me = '{ me { email } }'

interface Person {
  api: ApiWithRoles
  user: SignedIn
  browser: ConsoleBrowser
  /** What a page of the console sends. */
  headers: { origin: string; cookie: string }
}

/** Everything that ends the session of a browser. */
const endings: Record<string, (person: Person) => Promise<unknown>> = {
  'signing out': async ({ browser }) => {
    await browser.open('/console/products')
    assert.equal((await browser.submit('/console/sign-out')).status, 303)
  },
  'the device signed out from another': async ({ api, user }) => {
    const { body } = await api.get('/api/auth/sessions', user.access)
    const others = body.data.filter(({ current }: { current: boolean }) => !current)
    for (const { id } of others) {
      assert.equal((await api.delete(`/api/auth/sessions/${id}`, user.access)).status, 204)
    }
  },
  'logout of all devices': async ({ api, user }) =>
    api.post('/api/auth/logout', { all_devices: true }, (await again(api, user)).access),
  'a changed password': async ({ api, user }) => {
    const body = { current_password: password, new_password: 'Another-Horse-2' }
    assert.equal((await api.post('/api/auth/password', body, user.access)).status, 200)
  },
}

onAnyEngine("the console's socket", (engine) => {
  const service = shareService(startApiWithRoles, { engine })

  test('is opened with the session, and receives every change of a product, however it is made', async (t) => {
    const { api, user, headers, browser } = await join(await service())
    let created = 0
    api.parts.events.on(productCreated, () => {
      created += 1
    })
    const { socket, heard } = await openList(t, { api, headers, browser })
    assert.deepEqual(await socket.ask(me), { data: { me: { email: user.email } } })
    const id = await createProduct(api, user.access)
    await hears(heard, { id, kind: 'created' })
    const path = `${productsPath}/${id}`
    assert.equal((await api.put(path, { price: 2 }, user.access)).status, 200)
    await hears(heard, { id, kind: 'updated' })
    const query = `mutation { updateProduct(id: ${id}, input: { stock: 7 }) { id } }`
    assert.equal((await api.post('/graphql', { query }, user.access)).body.errors, undefined)
    await hears(heard, { id, kind: 'updated' })
    const page = `/console/products/${id}`
    await browser.open(page)
    assert.equal((await browser.submit(page, { name: 'Lamp', description: '', price: '3', stock: '1' })).status, 303)
    await hears(heard, { id, kind: 'updated' })
    await browser.open(page)
    await browser.submit(`${page}/delete`)
    await hears(heard, { id, kind: 'deleted' })
    await browser.open(`/console/products?deleted=${id}`)
    await browser.submit(`${page}/restore`)
    await hears(heard, { id, kind: 'restored' })
    assert.equal((await api.delete(path, user.access)).status, 204)
    await hears(heard, { id, kind: 'deleted' })
    assert.equal((await api.delete(path, user.access)).status, 404)
    assert.equal((await api.put(path, { price: 2 }, user.access)).status, 404)
    await createProduct(api, user.access)
    await hears(heard, { id: id + 1, kind: 'created' })
    assert.deepEqual(heard, [], 'and of nothing that was refused')
    assert.equal(created, 2, 'of the event ProductCreated nothing has changed')
  })

  test('resumes: it receives what came after the page was read, and what came while it was closed', async (t) => {
    const { api, user, headers, browser } = await join(await service())
    const after = cursorIn(await browser.open('/console/products'))
    const id = await createProduct(api, user.access)
    const first = await openList(t, { api, headers, browser, after })
    await hears(first.heard, { id, kind: 'created' })
    const seen = first.cursor()
    first.socket.close()
    await api.put(`${productsPath}/${id}`, { price: 2 }, user.access)
    await api.delete(`${productsPath}/${id}`, user.access)
    const second = await openList(t, { api, headers, browser, after: seen })
    await hears(second.heard, { id, kind: 'updated' })
    await hears(second.heard, { id, kind: 'deleted' })
    assert.deepEqual(second.heard, [])
    const third = await openList(t, { api, headers, browser, after: second.cursor() })
    assert.deepEqual(third.heard, [], 'and its first message tells that it is live, with whatever it has to tell')
  })

  test('refuses a cursor that has expired, and what is none', async (t) => {
    const { api, headers } = await join(await service())
    const socket = await openSocket(t, `${api.url}/console/live`, headers)
    for (const [after, code] of Object.entries({ 999999: 'GONE', today: 'BAD_USER_INPUT' })) {
      const { errors } = (await socket.ask(following(after))) as { errors?: { extensions: { code: string } }[] }
      assert.equal(errors?.[0]?.extensions.code, code)
    }
  })

  test('receives many changes in few messages, and of an import only that the list is another', async (t) => {
    const { api, user, headers, browser } = await join(await service())
    const { socket, heard, cuts } = await openList(t, { api, headers, browser })
    await Promise.all(Array.from({ length: 60 }, () => createProduct(api, user.access)))
    await eventually(() => assert.equal(heard.length, 60))
    assert.ok(socket.messages.length <= 30, `${socket.messages.length} messages`)
    assert.equal(cuts(), 0)
    const things = Array.from({ length: 500 }, (_, i) => ({ ...sampleRow, name: `Thing ${i}` }))
    await api.db.write(insertMany(api.db.dialect, things, api.clock.nowIso()))
    await eventually(() => assert.ok(cuts() > 0))
    const last = await createProduct(api, user.access)
    await eventually(() => assert.equal(heard.at(-1)?.id, last))
    assert.ok(heard.length < 300, `${heard.length} changes`)
  })

  test('is read-only: it offers no mutation', async (t) => {
    const { api, headers } = await join(await service())
    const socket = await openSocket(t, `${api.url}/console/live`, headers)
    for (const query of [
      'mutation { createPost(title: "a", body: "b") }',
      'mutation { deleteProduct(id: 1) }',
      '{ products { meta { total } } }',
    ]) {
      const response = (await socket.ask(query)) as { data?: unknown; errors?: unknown[] }
      assert.ok(response.data === undefined && /Cannot query|no mutation/.test(JSON.stringify(response)), query)
    }
    assert.equal((await api.db.all('SELECT * FROM posts')).length, 0)
  })

  test('is refused to pages of other origins, and without an Origin header', async () => {
    const { api, headers } = await join(await service())
    const { port } = new URL(api.url)
    const foreign = [
      undefined,
      '',
      'null',
      'file://',
      'http://evil.example',
      `http://evil.example:${port}`,
      `http://127.0.0.1.evil.example:${port}`,
      `http://127.0.0.1:${port}1`,
      'http://127.0.0.1',
      `http://localhost:${port}`,
    ]
    for (const origin of foreign) {
      const given = { cookie: headers.cookie, ...(origin !== undefined && { origin }) }
      assert.equal(await refusalOf(`${api.url}/console/live`, given), 403, String(origin))
    }
  })

  test('is refused without a session, whatever else is sent', async (t) => {
    const { api, user, headers } = await join(await service())
    const { origin } = headers
    const strangers = [
      { origin },
      { origin, cookie: '' },
      { origin, cookie: 'latchkey_session=' },
      { origin, cookie: `latchkey_session=${'x'.repeat(43)}` },
      { origin, cookie: `latchkey_session=${user.access}` },
      { origin, cookie: headers.cookie.replace('latchkey_session', 'latchkey_form') },
      { origin, authorization: `Bearer ${user.access}` },
    ]
    for (const each of strangers) {
      const socket = await openSocket(t, `${api.url}/console/live`, each)
      socket.send(me)
      await eventually(() => assert.equal(socket.closedBy(), 4403), byMessageMs)
      assert.deepEqual(socket.messages, [])
    }
  })

  for (const [name, end] of Object.entries(endings)) {
    test(`is closed at once after ${name}, but only that of this user`, async (t) => {
      const person = await join(await service())
      const { api, headers } = person
      const path = `${api.url}/console/live`
      const sockets = [await openSocket(t, path, headers), await openSocket(t, path, headers)]
      const bystander = await join(api)
      const other = await openSocket(t, path, bystander.headers)
      for (const each of [...sockets, other]) await each.ask(me)
      await end(person)
      await eventually(() => assert.ok(sockets.every((each) => each.closedBy() === 4403)), byMessageMs)
      assert.deepEqual(await other.ask(me), { data: { me: { email: bystander.user.email } } })
      assert.equal(other.closedBy(), undefined)
    })
  }

  test('lasts as long as the session, which pages keep alive and the socket does not', async (t) => {
    const { api, browser, headers } = await start(t, { engine, env: { JWT_REFRESH_TTL: '1000' } })
    const socket = await openSocket(t, `${api.url}/console/live`, headers)
    await socket.ask(me)
    const idle = await join(api)
    const last = await openSocket(t, `${api.url}/console/live`, idle.headers)
    await last.ask(me)
    api.clock.advance(600)
    await browser.open('/console/products')
    // A second socket triggers the check of the session that the periodic check would do later.
    const second = await openSocket(t, `${api.url}/console/live`, headers)
    await second.ask(me)
    api.clock.advance(600)
    // That of the idle session shows that expired ones have been looked for.
    await eventually(() => assert.equal(last.closedBy(), 4403), byMessageMs)
    assert.equal(socket.closedBy(), undefined)
    assert.match(JSON.stringify(await socket.ask(me)), /@example\.com/)
    api.clock.advance(401)
    await eventually(() => assert.deepEqual([socket.closedBy(), second.closedBy()], [4403, 4403]), byMessageMs)
  })

  test('is the only one that accepts cookies: /graphql and /api ignore them', async (t) => {
    const { api, headers } = await join(await service())
    const socket = await openSocket(t, `${api.url}/graphql`, headers)
    assert.deepEqual(await socket.ask(me), { data: { me: null } })
    const own = await openSocket(t, api.wsUrl, headers)
    assert.deepEqual(await own.ask(me), { data: { me: null } })
    const overHttp = await api.request('POST', '/graphql', { json: { query: me }, headers })
    assert.deepEqual(overHttp.body, { data: { me: null } })
    for (const path of ['/me', '/api/auth/sessions']) {
      assert.equal((await api.request('GET', path, { headers })).status, 401)
    }
  })

  test('accepts its own pages by the public URL, and over https no page loaded without it', async (t) => {
    const env = { PUBLIC_URL: 'https://console.example' }
    const { api, headers } = await start(t, { engine, env })
    const path = `${api.url}/console/live`
    const { host } = new URL(api.url)
    assert.match(headers.cookie, /__Host-latchkey_session=/)
    for (const origin of ['https://console.example', `https://${host}`]) {
      const socket = await openSocket(t, path, { ...headers, origin })
      assert.match(JSON.stringify(await socket.ask(me)), /@example\.com/)
    }
    for (const origin of ['http://console.example', `http://${host}`, 'https://console.example.evil']) {
      assert.equal(await refusalOf(path, { ...headers, origin }), 403, origin)
    }
  })
})

/** What the nodes share, in addition to the database. */
const shared: readonly { by: string; engine: Dialect; env: () => Record<string, string> }[] = [
  { by: 'PostgreSQL', engine: 'postgres', env: () => ({}) },
  { by: 'Redis', engine: 'sqlite', env: () => ({ REDIS_URL: testServer('TEST_REDIS_URL') }) },
]
for (const { by, engine, env } of engines.length > 1 ? shared : []) {
  test(`a change on one node reaches another, over ${by}`, async (t) => {
    const options = { env: { DATABASE_URL: await createDatabaseUrl(t, engine, { isMigrated: true }), ...env() } }
    const { api, headers, browser } = await start(t, options)
    const other = await startApiWithRoles(t, options)
    const { heard } = await openList(t, { api, headers, browser })
    const { access } = await signIn(other)
    const id = await createProduct(other, access)
    await hears(heard, { id, kind: 'created' })
    await other.put(`${productsPath}/${id}`, { price: 2 }, access)
    await hears(heard, { id, kind: 'updated' })
    await other.delete(`${productsPath}/${id}`, access)
    await hears(heard, { id, kind: 'deleted' })
  })
}

interface Change {
  id: number
  kind: string
}

interface Following extends Pick<Person, 'api' | 'headers' | 'browser'> {
  /** That of a page that is loaded now, by default. */
  after?: string
}

const following = (after: string) =>
  `subscription { changedProducts(after: ${JSON.stringify(after)}) { cursor changes { id type version } isCut } }`

interface Message {
  data?: { changedProducts?: { cursor: string; changes: { id: string; type: string }[]; isCut: boolean } }
}

/** The socket of a page with a product list, once it is live. */
async function openList(t: TestContext, { api, headers, browser, after }: Following) {
  const heard: Change[] = []
  let cursor = after ?? cursorIn(await browser.open('/console/products'))
  let messages = 0
  let cuts = 0
  const socket = await openSocket(t, `${api.url}/console/live`, headers, (message) => {
    const received = (message as Message).data?.changedProducts
    if (!received) return
    messages += 1
    cursor = received.cursor
    if (received.isCut) cuts += 1
    for (const { id, type } of received.changes) heard.push({ id: Number(id), kind: type.replace('product.', '') })
  })
  socket.send(following(cursor))
  await eventually(() => assert.ok(messages > 0))
  return { socket, heard, cursor: () => cursor, cuts: () => cuts }
}

function cursorIn({ html }: ConsolePage): string {
  return / data-cursor="([^"]+)"/.exec(html)?.[1] ?? assert.fail('the page has no cursor')
}

async function hears(heard: Change[], expected: Change): Promise<void> {
  await eventually(() => assert.deepEqual(heard[0], expected))
  heard.shift()
}

async function start(t: TestContext, options: ApiOptions): Promise<Person> {
  return join(await startApiWithRoles(t, options))
}

async function join(api: ApiWithRoles): Promise<Person> {
  const user = await signIn(api)
  const browser = openConsole(api)
  await browser.signIn(user.email)
  const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
  return { api, user, browser, headers: { origin: new URL(api.url).origin, cookie } }
}

async function openSocket(
  t: TestContext,
  url: string,
  headers: Record<string, string>,
  onMessage: (message: unknown) => void = () => {},
) {
  const ws = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  t.after(() => ws.terminate())
  const messages: unknown[] = []
  let closedBy: number | undefined
  let asked = 0
  ws.on('message', (data) => {
    messages.push(JSON.parse(String(data)))
    onMessage(messages.at(-1))
  })
  ws.on('close', (code) => {
    closedBy = code
  })
  await once(ws, 'open')
  return {
    /** Messages without an id. */
    messages,
    closedBy: () => closedBy,
    close: () => ws.close(),
    send: (query: string) => ws.send(JSON.stringify({ query })),
    /** Returns the response. */
    async ask(query: string): Promise<unknown> {
      asked += 1
      const own = asked
      ws.send(JSON.stringify({ query, id: own }))
      return eventually(() => {
        const i = messages.findIndex((each) => (each as { id?: unknown }).id === own)
        assert.ok(i >= 0, `no answer; closed by ${closedBy}`)
        const [{ id: _, ...response }] = messages.splice(i, 1) as [{ id: number }]
        return response
      })
    },
  }
}

/** The status of a refused upgrade. */
async function refusalOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const ws = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  const [, response] = await once(ws, 'unexpected-response')
  ws.on('error', () => {})
  ws.terminate()
  return response.statusCode
}
