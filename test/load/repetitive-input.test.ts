/** Long repetitive texts in every input of the service: none makes it work longer than its length explains. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonSchema } from '../../src/platform/openapi/document.ts'
import { unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { findGrowth, type Send } from '../support/cpu-growth.ts'
import { onAnyEngine } from '../support/databases.ts'
import { type Described, startDescribedApi } from '../support/openapi-document.ts'
import { forHeader, type RepetitiveText, repeat, repetitiveTexts } from '../support/repetitive-texts.ts'
import { openSocket } from '../support/sockets.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

/** Length of a body or a message. A quadratic cost of a nanosecond for each pair of characters is a second. */
const longLength = 32 * 1024
/** Length of a path, a query or a header, which share 16 KiB. */
const shortLength = 12 * 1024

/** An input that takes text, and how to send some to it. */
interface TextInput {
  name: string
  length: number
  send(text: string): Promise<unknown>
}

interface Amount {
  texts?: readonly RepetitiveText[]
  /** Each input gets one of so many parts of the texts, in turn. */
  shares?: number | undefined
}

async function findSlowInputs(inputs: readonly TextInput[], { texts = repetitiveTexts, shares }: Amount = {}) {
  const parts = shares ?? (texts.length === 1 ? 1 : amount({ full: 1, otherwise: 6 }))
  const complaints: string[] = []
  for (const [i, input] of inputs.entries()) {
    for (const { name, make } of texts.filter((_, j) => j % parts === i % parts)) {
      const send: Send = (length) => input.send(make(length))
      const complaint = await findGrowth(send, input.length)
      if (complaint !== undefined) complaints.push(`${input.name}, ${name}: ${complaint}`)
    }
  }
  return complaints
}

interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}

/** A new connection for each request would take half of the time. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Resolves with any status, and also if the connection is cut. */
function exchange(url: string, given: Sent): Promise<number> {
  const { method, path, headers = {}, body } = given
  return new Promise((resolve) => {
    const sent = request(new URL(url), { method, path, headers, agent }, (response) => {
      response.resume()
      response.on('close', () => resolve(response.statusCode ?? 0))
    })
    // A connection that was cut after the last request has carried nothing of this one.
    sent.on('error', () => resolve(sent.reusedSocket ? exchange(url, given) : 0))
    sent.end(body)
  })
}

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Each text goes to hundreds of inputs, and encoding it takes longer than the request. */
function remember(encode: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const encoded = known.get(text) ?? encode(text)
    known.set(text, encoded)
    return encoded
  }
}

const encodePart = remember(encodeURIComponent)
const encodeField = remember((text) => new URLSearchParams({ '': text }).toString().slice(1))

function encodeForm(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map((pair) => pair.map(encodeField).join('='))
    .join('&')
}

/** The parameters and fields of one operation, by its description. */
function inputsOf(url: string, { name, method, path, operation }: Described, token: string): TextInput[] {
  const authorization = { authorization: `Bearer ${token}` }
  const filled = path.replace(/\{\w+\}/g, '1')
  const parameters = (operation.parameters ?? []).map((parameter): TextInput => {
    const title = `${name}: ${parameter.in} ${parameter.name}`
    if (parameter.in === 'header') {
      const send = (text: string) =>
        exchange(url, { method, path: filled, headers: { ...authorization, [parameter.name]: forHeader(text) } })
      return { name: title, length: shortLength, send }
    }
    const send = (text: string) => {
      const encoded = encodePart(text).slice(0, shortLength).replace(/%.?$/, '')
      const target =
        parameter.in === 'path'
          ? path.replace(`{${parameter.name}}`, encoded).replace(/\{\w+\}/g, '1')
          : `${filled}?${parameter.name}=${encoded}`
      return exchange(url, { method, path: target, headers: authorization })
    }
    return { name: title, length: shortLength, send }
  })
  const fields = Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
    fieldsOf(schema).map((field): TextInput => {
      const isForm = type.includes('form')
      const send = (text: string) =>
        exchange(url, {
          method,
          path: filled,
          headers: { ...authorization, ...(isForm ? form : json) },
          body: isForm ? encodeForm({ [field]: text }) : JSON.stringify({ [field]: text }),
        })
      return { name: `${name}: ${isForm ? 'form ' : ''}field ${field}`, length: longLength, send }
    }),
  )
  return [...parameters, ...fields]
}

let schemas: Record<string, JsonSchema> = {}

function fieldsOf(schema: JsonSchema): string[] {
  const { $ref } = schema as { $ref?: string }
  const found = $ref === undefined ? schema : schemas[$ref.split('/').at(-1) ?? '']
  return Object.keys((found as { properties?: object } | undefined)?.properties ?? {})
}

async function start(t: TestContext, engine: 'sqlite' | 'postgres') {
  const api = await startDescribedApi(t, { engine, env: unlimitedRates })
  schemas = api.document.components.schemas as Record<string, JsonSchema>
  // The first user is another one, so that actions on user 1 do not end this session.
  await api.signInAs('viewer')
  const { access, email } = await api.signInAs('admin')
  return { ...api, access, email }
}

onAnyEngine('long repetitive texts', (engine) => {
  test('in every documented parameter and field', async (t) => {
    const { url, operations, access } = await start(t, engine)
    const inputs = operations.flatMap((operation) => inputsOf(url, operation, access))
    assert.ok(inputs.length > 60, `${inputs.length} inputs`)
    // A query on PostgreSQL is the work of another process. Of this one only the driver differs.
    assert.deepEqual(await findSlowInputs(inputs, { shares: engine === 'sqlite' ? undefined : 6 }), [])
  })
})

// Parsing happens before any query and takes the same time on both engines.
describe('long repetitive texts', () => {
  const engine = 'sqlite'

  test('in known and unknown headers', async (t) => {
    const { url, access } = await start(t, engine)
    const routes = [
      { method: 'GET', path: '/api/v2/products' },
      { method: 'OPTIONS', path: '/nowhere' },
      { method: 'GET', path: '/graphql?query=%7B__typename%7D' },
      { method: 'POST', path: '/graphql', body: '{"query":"{ __typename }"}' },
      { method: 'POST', path: '/api/auth/login', body: '{"email":"a@example.com","password":"b"}' },
      { method: 'GET', path: '/console/sign-in' },
    ]
    const inputs = routes.flatMap((route) =>
      headerNames.flatMap((header) =>
        (headerPrefixes[header] ?? ['']).map((prefix): TextInput => {
          const send = (text: string) =>
            exchange(url, {
              ...route,
              headers: {
                ...json,
                ...(header !== 'authorization' && { authorization: `Bearer ${access}` }),
                [header]: prefix + forHeader(text),
              },
            })
          const name = `${route.method} ${route.path}: ${header}: ${prefix}`
          return { name, length: shortLength, send }
        }),
      ),
    )
    assert.deepEqual(await findSlowInputs(inputs, { texts: headerTexts }), [])
  })

  test('as whole bodies, and as documents, variables and names of GraphQL', async (t) => {
    const { url } = await start(t, engine)
    const graphql = (body: object) =>
      exchange(url, { method: 'POST', path: '/graphql', headers: json, body: JSON.stringify(body) })
    const query = 'query ($id: ID!, $input: CreateProductInput) { product(id: $id) { name } }'
    const inputs: TextInput[] = [
      ...['/api/auth/login', '/graphql', '/api/v2/products'].flatMap((path) =>
        [json, form].map((headers) => ({
          name: `${path} as ${headers['content-type']}`,
          length: longLength,
          send: (body: string) => exchange(url, { method: 'POST', path, headers, body }),
        })),
      ),
      { name: 'document', length: longLength, send: (text) => graphql({ query: text }) },
      {
        name: 'string in a document',
        length: longLength,
        send: (text) => graphql({ query: `{ product(id: ${JSON.stringify(text)}) { id } }` }),
      },
      {
        name: 'block string',
        length: longLength,
        send: (text) => graphql({ query: `{ product(id: """${text}""") { id } }` }),
      },
      { name: 'comment', length: longLength, send: (text) => graphql({ query: `{ __typename } #${text}` }) },
      {
        name: 'operationName',
        length: longLength,
        send: (text) => graphql({ query: '{ __typename }', operationName: text }),
      },
      { name: 'variable', length: longLength, send: (text) => graphql({ query, variables: { id: text } }) },
      {
        name: 'wrong variable',
        length: longLength,
        send: (text) => graphql({ query, variables: { id: '1', input: text } }),
      },
      {
        name: 'unknown key',
        length: longLength,
        send: (text) => graphql({ query, variables: { id: '1', input: { [text]: 1 } } }),
      },
      {
        name: 'extensions',
        length: longLength,
        send: (text) => graphql({ query: '{ __typename }', extensions: { [text]: text } }),
      },
    ]
    assert.deepEqual(await findSlowInputs(inputs), [])
  })

  testInFull('in every field of every form of the console', async (t) => {
    const { url, routes, email, access, post } = await start(t, engine)
    await post('/api/v2/products', { name: 'Lamp', description: 'Bright', price: 1 }, access)
    const browser = openConsole({ url })
    await browser.signIn(email)
    const { _token = '' } = (await browser.open('/console/account')).hidden('/console/sign-out')
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    const send = async (path: string, fields: Record<string, string>) => {
      const body = encodeForm({ _token, ...fields })
      const status = await exchange(url, { method: 'POST', path, headers: { ...form, cookie, origin: url }, body })
      assert.ok('_token' in fields || status !== 403, `${path} takes the form`)
    }
    const actions = routes
      .filter((route) => /^POST \/console\b/.test(route) && !route.includes('/sign-out'))
      .map((route) => route.replace('POST ', '').replace(/\{\w+\}/g, '1'))
    assert.ok(actions.length >= 16, actions.join(' '))
    const inputs = actions.flatMap((path, i) =>
      // What all forms have is parsed by the same code.
      [...fieldsOfForm(path), ...(i === 0 ? commonFields : [])].map((field): TextInput => {
        return { name: `${path}: ${field}`, length: longLength, send: (text) => send(path, { [field]: text }) }
      }),
    )
    assert.deepEqual(await findSlowInputs(inputs), [])
    assert.equal((await browser.open('/console/account')).status, 200, 'the session has lasted')
  })

  test('in every part of a message on a socket', async (t) => {
    const { url } = await start(t, engine)
    const socketUrl = `${url.replace('http', 'ws')}/graphql`
    /** Sends one message and waits for a response or the end. */
    const say = async (protocol: string, first: object | undefined, message: unknown) => {
      const socket = await openSocket(t, socketUrl, protocol === '' ? {} : { protocol })
      if (first !== undefined) {
        socket.send(first)
        await socket.next().catch(() => {})
      }
      socket.send(message)
      await socket.next().catch(() => {})
      socket.ws.terminate()
    }
    const init = { type: 'connection_init' }
    const transport = 'graphql-transport-ws'
    const query = '{ __typename }'
    const inputs: [string, (text: string) => Promise<void>][] = [
      ['plain message', (text) => say('', undefined, text)],
      ['plain query', (text) => say('', undefined, { query: text })],
      ['plain id', (text) => say('', undefined, { query, id: text })],
      ['plain operationName', (text) => say('', undefined, { query, operationName: text })],
      ['plain variables', (text) => say('', undefined, { query, variables: { a: text } })],
      ['message', (text) => say(transport, undefined, text)],
      ['type', (text) => say(transport, init, { type: text })],
      ['authorization', (text) => say(transport, undefined, { ...init, payload: { authorization: text } })],
      ['bearer', (text) => say(transport, undefined, { ...init, payload: { authorization: `Bearer ${text}` } })],
      ['key of the payload', (text) => say(transport, undefined, { ...init, payload: { [text]: text } })],
      ['subscribe id', (text) => say(transport, init, { type: 'subscribe', id: text, payload: { query } })],
      ['subscribe query', (text) => say(transport, init, { type: 'subscribe', id: '1', payload: { query: text } })],
      ['ping', (text) => say(transport, init, { type: 'ping', payload: { text } })],
    ]
    const all = inputs.map(([name, send]) => ({ name, length: longLength, send }))
    assert.deepEqual(await findSlowInputs(all), [])
  })

  testInFull('of random pieces', async (t) => {
    const { url, operations, access } = await start(t, engine)
    const inputs = operations.flatMap((operation) => inputsOf(url, operation, access))
    const piece = fc.string({
      unit: fc.constantFrom(...' \t\n.,;:-_\'"\\/<>[]{}()$@%=+*?aA1é\u0301'),
      minLength: 1,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...inputs), piece, async (input, given) => {
        const text = { name: JSON.stringify(given), make: (length: number) => repeat(given, length) }
        assert.deepEqual(await findSlowInputs([input], { texts: [text] }), [])
      }),
      { numRuns: amount({ full: 200, otherwise: 50 }) },
    )
  })
})

/** The texts that still differ when reduced to valid header characters. */
const headerTexts = repetitiveTexts.filter(({ make }, i) => {
  const carried = (text: RepetitiveText) => forHeader(text.make(shortLength))
  return repetitiveTexts.findIndex((text) => carried(text) === forHeader(make(shortLength))) === i
})

const headerNames = [
  'accept',
  'accept-encoding',
  'accept-language',
  'access-control-request-headers',
  'authorization',
  'content-type',
  'cookie',
  'forwarded',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'origin',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-request-id',
]

/** The prefix that is needed for the rest to be parsed. */
const headerPrefixes: Record<string, string[]> = {
  authorization: ['', 'Bearer ', 'Basic '],
  'content-type': ['', 'application/json;', 'application/json; charset='],
  accept: ['', 'application/json;'],
  cookie: ['', 'latchkey_session='],
  'if-none-match': ['', 'W/"'],
}

const commonFields = ['_token', 'next', 'unknown']

/** Those that its pages have. */
function fieldsOfForm(path: string): string[] {
  return Object.entries(formFields).find(([part]) => path.includes(part))?.[1] ?? []
}

const formFields: Record<string, string[]> = {
  '/products': ['name', 'description', 'price', 'category', 'stock', 'active', 'tag', 'key'],
  '/sign-in': ['email', 'password', 'challenge_token', 'code', 'ticket'],
  '/register': ['email', 'password', 'name'],
  '/password': ['email', 'token', 'password', 'current_password', 'new_password'],
  '/two-factor': ['password', 'code'],
  '/account': ['name', 'password', 'current_password', 'new_password', 'code'],
  '/users': ['roles', 'q'],
}
