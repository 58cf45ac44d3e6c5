/** Tells of every new product. The examples of docs/products.md. */
import type { Extend } from '../../src/app.ts'

export const announce: Extend = (_app, { events }) => {
  events.on('ProductCreated', async (product) => {
    await tell(`${product.name} is new, for ${product.price_cents / 100} dollars`)
  })
}

export const told: string[] = []

async function tell(news: string): Promise<void> {
  told.push(news)
}
