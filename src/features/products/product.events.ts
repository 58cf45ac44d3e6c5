import { defineEvent } from '../../platform/events/events.ts'
import type { Product } from './product.ts'

/** A product was stored. Its maker is answered once every listener has ended. */
export const productCreated = defineEvent<Product>('ProductCreated')
