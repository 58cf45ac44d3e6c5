import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startService, type TestService, type TestServiceOptions } from 'latchkey/testing'
import orders from './orders.ts'

type Engine = NonNullable<TestServiceOptions['engine']>

/** A service with orders, two users and what tests do over and over. */
export async function start(
  t: TestContext,
  engine: Engine,
  { environment = {}, extensions = [] }: Pick<TestServiceOptions, 'environment' | 'extensions'> = {},
) {
  const service = await startService({ engine, extensions: [orders, ...extensions], environment })
  t.after(() => service.close())
  const ada = await service.signIn('ada@example.com')
  const bob = await service.signIn('bob@example.com')

  async function createProduct(name: string, price: number, stock: number): Promise<number> {
    const { status, body } = await service.post('/api/v2/products', { name, description: 'x', price, stock }, ada)
    assert.equal(status, 201)
    return body.data.id
  }
  const stockOf = async (id: number) => (await service.get(`/api/v2/products/${id}`)).body.data.attributes.stock
  const place = (items: object[], token = ada) => service.post('/api/orders', { items }, token)
  const cancel = (id: number, token = ada) =>
    service.request('PATCH', `/api/orders/${id}`, { json: { status: 'cancelled' }, token })
  const ask = async (query: string, token = ada) => (await service.post('/graphql', { query }, token)).body
  return { service, ada, bob, createProduct, stockOf, place, cancel, ask }
}

/** A browser that is signed in to the console: it keeps the cookies, and sends forms with their token. */
export async function openConsole(service: TestService, email: string) {
  const cookies = new Map<string, string>()
  let token = ''

  async function request(method: string, path: string, form?: Record<string, string>) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const { status, headers, body } = await service.request(method, path, {
      headers: { cookie },
      ...(form && { form }),
    })
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    token = /name="_token" value="([^"]*)"/.exec(String(body))?.[1] ?? token
    return { status, html: String(body), location: headers.get('location') }
  }

  const open = (path: string) => request('GET', path)
  const submit = (path: string, fields: Record<string, string> = {}) =>
    request('POST', path, { _token: token, ...fields })
  await open('/console/sign-in')
  const { status } = await submit('/console/sign-in', { email, password: 'Correct-Horse-1' })
  assert.equal(status, 303)
  return { open, submit }
}
