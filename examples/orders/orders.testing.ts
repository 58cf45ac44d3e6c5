import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startService, type TestServiceOptions } from 'latchkey/testing'
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
  async function signInToConsole(email: string) {
    const browser = service.openConsole()
    await browser.signIn(email)
    return browser
  }

  return { service, ada, bob, createProduct, stockOf, place, cancel, ask, signInToConsole }
}
