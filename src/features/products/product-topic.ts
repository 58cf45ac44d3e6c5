/** Products in the change log, which the triggers of migration 0020 write. */
import type { ChangeTopic } from '../../platform/changes/change.ts'
import type { Product } from './product.ts'
import { toResource } from './product-resource.ts'

export const productTopic: ChangeTopic = {
  topic: 'products',
  types: ['product.created', 'product.updated', 'product.deleted', 'product.restored'],
  present: (stored) => toResource(parseStored(stored)),
  versionOf,
}

/** A deleted product is stored as it last was. Read from the end, because a description may be long. */
export function versionOf(type: string, stored: string): number {
  const version = Number(/\d+/.exec(stored.slice(stored.lastIndexOf('"version"')))?.[0])
  return type === 'product.deleted' ? version + 1 : version
}

/** The engines write booleans and times in different ways. */
export function parseStored(text: string): Product {
  const stored = JSON.parse(text) as Product
  return {
    ...stored,
    active: Boolean(stored.active),
    created_at: new Date(stored.created_at).toISOString(),
    updated_at: new Date(stored.updated_at).toISOString(),
  }
}
