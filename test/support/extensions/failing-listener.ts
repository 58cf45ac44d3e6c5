/** An extension whose durable listener fails for every change, so that each becomes a dead letter. */
import { defineFeature, on } from 'latchkey/feature'

export default defineFeature({
  name: 'failing-listener',
  create: () => undefined,
  listeners: () => [
    on('product.created', { durable: 'failing-listener', attempts: 1 }, () => {
      throw new Error('it always fails')
    }),
  ],
})
