import type { Product } from '../features/products/product.ts'
import type { Events } from '../platform/events/events.ts'

/** All events of the service, each with what it carries. */
export interface EventMap {
  ProductCreated: Product
}

export type AppEvents = Events<EventMap>
