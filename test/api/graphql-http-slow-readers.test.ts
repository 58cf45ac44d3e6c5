/** Unread responses are buffered up to a limit per address. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { ClientResponse } from '../../src/testing/client.ts'
import type { Api } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, graphqlPath, send } from '../support/graphql.ts'
import { createProduct } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

/** The response has 3.9 million characters. */
const list = '{ posts { body } }'

async function start(t: TestContext) {
  const api = await startApiWithRoles(t, {
    env: { GQL_WS_MAX_BYTES_PER_ADDRESS: '4500000', UNREAD_TIMEOUT: '3600' },
  })
  const create = 'mutation ($body: String!) { createPost(title: "long", body: $body) }'
  for (let i = 0; i < 60; i++) await send(api, create, { variables: { body: 'x'.repeat(65_536) } })
  return api
}

/** Requests the list until more responses are buffered than the system accepts. */
async function askWithoutReading(t: TestContext, api: Api): Promise<Socket> {
  const { port } = new URL(api.url)
  const socket = connect(Number(port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  await eventually(async () => {
    socket.write(`GET ${graphqlPath}?query=${encodeURIComponent(list)} HTTP/1.1\r\nhost: x\r\n\r\n`)
    // Repeated, because a response on its way to the system is buffered for a moment.
    for (let i = 0; i < 5; i++) assert.equal((await send(api, list)).status, 503)
  })
  return socket
}

/** From another address of this machine. */
function askFrom(localAddress: string, api: Api): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    request(api.url + graphqlPath, { method: 'POST', headers, localAddress, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end(JSON.stringify({ query: list }))
  })
}

const sendBatch = (api: Api, queries: string[]): Promise<ClientResponse> =>
  api.request('POST', graphqlPath, { json: queries.map((query) => ({ query })) })

test('beyond the byte limit of an address, long query responses are refused for this address only', async (t) => {
  const api = await start(t)
  assert.equal((await send(api, list)).body.data.posts.length, 60)
  const deaf = await askWithoutReading(t, api)
  const refused = await send(api, list)
  assert.deepEqual([refused.status, codeOf(refused.body)], [503, 'SERVICE_UNAVAILABLE'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal((await sendBatch(api, [list])).status, 503)
  assert.equal((await send(api, '{ posts { id } }')).body.data.posts.length, 60)
  assert.equal(await askFrom('127.0.0.2', api), 200)
  deaf.destroy()
  await eventually(async () => assert.equal((await send(api, list)).status, 200))
})

test('the response to a stored mutation is always sent, and slow readers are disconnected for it', async (t) => {
  const api = await start(t)
  const { access: token } = await api.signInAs('editor')
  const id = await createProduct(api, token)
  const update = `mutation ($input: UpdateProductInput!) { updateProduct(id: ${id}, input: $input) { description } }`
  const variables = { input: { description: 'y'.repeat(900_000) } }
  async function updateAlone(): Promise<void> {
    const { body } = await send(api, update, { variables, token })
    assert.equal(body.data.updateProduct.description.length, 900_000)
  }
  async function createInBatch(): Promise<void> {
    const { body } = await sendBatch(api, ['mutation { createPost(title: "a", body: "b") }', list])
    assert.deepEqual([body[0].data.createPost, body[1].data.posts.length], [61, 61])
  }
  for (const mutate of [updateAlone, createInBatch]) {
    const deaf = await askWithoutReading(t, api)
    await mutate()
    deaf.resume()
    await once(deaf, 'close')
    assert.equal((await send(api, list)).status, 200)
  }
  assert.ok(api.log.some((line) => line.includes('its address holds too many bytes')))
})
