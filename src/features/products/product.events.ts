import { defineEvent } from '../../platform/events/events.ts'
import type { Product } from './product.ts'

/** The GraphQL subscription topic of new products. */
export const productCreatedTopic = 'productCreated'

/** Emitted after the product is stored, and before the response: the request waits for all listeners. */
export const productCreated = defineEvent<Product>('ProductCreated')
