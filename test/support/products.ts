import assert from 'node:assert/strict'
import type { ProductValues } from '../../src/features/products/product.ts'
import type { ClientResponse } from '../../src/testing/client.ts'
import type { Api } from './api.ts'
import type { ApiWithRoles } from './roles.ts'

export const productsPath = '/api/v2/products'

export const lamp = { name: 'Desk Lamp', description: 'Bright and warm', price: 1234.5, category: 'home', stock: 3 }

/** A row for `insertMany`; every test sets the name. */
export const sampleRow: Omit<ProductValues, 'name'> = {
  description: 'Made',
  price_cents: 100,
  category: 'general',
  stock: 1,
  active: true,
}

/** Creates a product and returns its id. */
export async function createProduct(api: Api, token: string, fields: object = {}): Promise<number> {
  const response = await api.post(`${productsPath}/`, { ...lamp, ...fields }, token)
  assert.equal(response.status, 201, JSON.stringify(response.body))
  return response.body.data.id
}

export function namesOf({ body }: ClientResponse): string[] {
  return body.data.map((product: { attributes: { name: string } }) => product.attributes.name)
}

export function idsOf({ body }: ClientResponse): number[] {
  return body.data.map((product: { id: number }) => product.id)
}

/** For tests that share a service but expect their own products alone. Their ids go on from those that were there. */
export async function withoutProducts<T extends ApiWithRoles>(api: T): Promise<T> {
  await api.db.write({ sql: 'DELETE FROM products' })
  return api
}
