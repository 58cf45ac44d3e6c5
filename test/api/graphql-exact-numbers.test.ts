/** Numbers are validated as written, with the rules and details of REST. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { codeOf, graphqlPath } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { productsPath } from '../support/products.ts'
import { openSocket, startSocketApi } from '../support/sockets.ts'

const cases: [field: 'price' | 'stock', written: string][] = [
  ['price', '0.0099999999999999999999'],
  ['price', '0.00999999999999999999999999999999999999'],
  ['price', '99999999.990000000000000000001'],
  ['price', '1e400'],
  ['price', '-1e400'],
  ['price', '1e-400'],
  ['stock', '99999999999'],
  ['stock', '2147483648'],
  ['stock', '-99999999999'],
  ['stock', '-1'],
  ['stock', '1.5'],
  ['stock', '99999999999999999999999999999999'],
]

/** The same fields in every way that a client can send them, with the numbers as written here. */
function waysOf(field: string, written: string): [way: string, body: string][] {
  const rest = field === 'price' ? '"stock":1' : '"price":1'
  const literal = rest.replaceAll('"', '')
  const start = '"name":"Lamp","description":"d"'
  const text = (query: string, variables: string) => `{"query":${JSON.stringify(query)},"variables":${variables}}`
  const selected = '{ id price stock }'
  return [
    [
      'a literal',
      text(
        `mutation { createProduct(input: { name: "Lamp", description: "d", ${literal}, ${field}: ${written} }) ${selected} }`,
        '{}',
      ),
    ],
    [
      'a variable for all',
      text(
        `mutation ($i: CreateProductInput!) { createProduct(input: $i) ${selected} }`,
        `{"i":{${start},${rest},"${field}":${written}}}`,
      ),
    ],
    [
      'a variable for the number',
      text(
        `mutation ($n: ${field === 'price' ? 'Float' : 'Int!'}) {
          createProduct(input: { name: "Lamp", description: "d", ${literal}, ${field}: $n }) ${selected} }`,
        `{"n":${written}}`,
      ),
    ],
  ]
}

function sendText(api: Api, body: string, token: string) {
  return api.request('POST', graphqlPath, { body, token, headers: { 'content-type': 'application/json' } })
}

onAnyEngine('numbers as they are written', (engine) => {
  test('are refused by GraphQL as REST refuses them', async (t) => {
    const api = await startApi(t, { engine })
    const { access } = await signIn(api)
    for (const [field, written] of cases) {
      const body = `{"name":"Lamp","description":"d",${field === 'price' ? '"stock":1' : '"price":1'},"${field}":${written}}`
      const rest = await api.request('POST', productsPath, {
        body,
        token: access,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(rest.status, 422, written)
      for (const [way, text] of waysOf(field, written)) {
        const response = await sendText(api, text, access)
        assert.equal(codeOf(response.body), 'BAD_USER_INPUT', `${written} as ${way}: ${JSON.stringify(response.body)}`)
        assert.deepEqual(response.body.errors[0].extensions.details, rest.body.details, `${written} as ${way}`)
      }
    }
  })

  test('are rounded by their digits', async (t) => {
    const api = await startApi(t, { engine })
    const { access } = await signIn(api)
    for (const [written, price] of [
      ['1.00499999999999999999999', 1],
      ['1.005', 1.01],
      ['1e0', 1],
      ['2', 2],
    ] as const) {
      for (const [way, text] of waysOf('price', written)) {
        const { body } = await sendText(api, text, access)
        assert.equal(body.data?.createProduct?.price, price, `${written} as ${way}: ${JSON.stringify(body)}`)
      }
    }
  })
})

test('on a socket', async (t) => {
  const api = await startSocketApi(t)
  const { access } = await signIn(api)
  const socket = await openSocket(t, api.wsUrl, { token: access })
  for (const [, text] of waysOf('price', '0.0099999999999999999999')) {
    socket.send(text)
    assert.deepEqual((await socket.next()).errors[0].extensions.details, { price: ['Must be at least 0.01'] })
  }
})
