/** Announces every new product. The example of docs/products.md. */
import { productCreated } from 'latchkey'
import { defineFeature, on } from 'latchkey/feature'

export default defineFeature({
  name: 'announce',
  create: () => undefined,
  listeners: () => [
    on(productCreated, async (product) => {
      await tell(`${product.name} is new, for ${product.price_cents / 100} dollars`)
    }),
  ],
})

export const told: string[] = []

async function tell(news: string): Promise<void> {
  told.push(news)
}
