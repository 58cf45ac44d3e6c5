/** Generates sample products, deterministically by seed. */

import type { Clock } from '../../../core/clock.ts'
import { createNumbers } from '../../../core/seeded-numbers.ts'
import type { Database } from '../../../platform/database/database.ts'
import { insertMany, rowsPerWrite } from '../bulk.store.ts'
import type { ProductValues } from '../product.ts'
import { openBulkWriter } from './bulk-writer.ts'

const adjectives =
  'Rustic Modern Compact Elegant Sturdy Handmade Classic Lightweight Foldable Vintage Sleek Cosy'.split(' ')
const materials = 'Oak Steel Linen Cotton Ceramic Glass Leather Bamboo Marble Copper Wool Granite'.split(' ')
const nouns: Readonly<Record<string, readonly string[]>> = {
  furniture: ['Chair', 'Table', 'Shelf', 'Bench', 'Desk', 'Stool'],
  kitchen: ['Kettle', 'Bowl', 'Mug', 'Pan', 'Board', 'Jar'],
  home: ['Lamp', 'Rug', 'Vase', 'Basket', 'Clock', 'Mirror'],
  garden: ['Planter', 'Lantern', 'Trellis', 'Spade'],
  office: ['Organiser', 'Notebook', 'Tray', 'Pen Holder'],
  clothing: ['Jacket', 'Scarf', 'Gloves', 'Hat', 'Shirt'],
}
const uses = ['everyday use', 'small rooms', 'long evenings', 'a busy household', 'the office', 'a gift']
const qualities = ['made to last', 'easy to clean', 'finished by hand', 'light to carry', 'made from recycled material']
const categories = Object.keys(nouns)

export interface SeedJob {
  count: number
  seed: number
  signal: AbortSignal
  onProgress(made: number): void
}

export function createProductSeed({ db, clock }: { db: Database; clock: Clock }) {
  /** Returns the number of products created, which is less than `count` if the signal is aborted. */
  return async ({ count, seed, signal, onProgress }: SeedJob): Promise<number> => {
    const products = inventProducts(seed)
    let made = 0
    const bulk = await openBulkWriter({ db, clock })
    while (made < count && !signal.aborted) {
      const some = products.take(Math.min(rowsPerWrite, count - made))
      await bulk.write(insertMany(db.dialect, some, clock.nowIso()))
      made += some.length
      onProgress(made)
    }
    await bulk.settle(made)
    return made
  }
}

export function inventProducts(seed: number): { take(count: number): ProductValues[] } {
  const fraction = createNumbers(seed)
  const below = (end: number) => Math.floor(fraction() * end)
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T
  let number = 0

  function invent(): ProductValues {
    number += 1
    const category = pick(categories)
    const material = pick(materials)
    const quality = below(qualities.length)
    const another = (quality + 1 + below(qualities.length - 1)) % qualities.length
    const thing = `${material} ${pick(nouns[category] as readonly string[])}`
    return {
      name: `${pick(adjectives)} ${thing} ${number}`,
      description: `${thing} for ${pick(uses)}, ${qualities[quality]} and ${qualities[another]}.`,
      // Many cheap products and a few expensive ones.
      price_cents: Math.floor(5 + 495 * fraction() ** 3) * 100 + 99,
      category,
      stock: below(10) === 0 ? 0 : below(250),
      active: below(20) !== 0,
    }
  }
  return { take: (count) => Array.from({ length: count }, invent) }
}
