/**
 * Products by a part of their name, and by category, in the order of names. There are two ways to find a part of a
 * name: by an index of all three characters in a row, which costs as much as there are names that match, and along the
 * names in their order, which ends as soon as it has enough. The first is for rare terms, the second for common ones.
 * What the engines do differently is in name-index.*.store.ts.
 */
import { isStorable } from '../../core/text.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import { type Product, toNameKey } from './product.ts'
import type { ProductStore } from './products.store.ts'

export interface SearchDeps {
  store: ProductStore
  counts: MaintainedCounts
  index: NameIndex
  /** What is read of a product. */
  columns: string
}

/** What the two engines need to know of a term. */
export interface Term {
  text: string
  /** Some of its three characters in a row, enough to cover it; of a shorter term, the term itself. */
  grams: readonly string[]
  isShort: boolean
}

/** How an engine finds a part of a name. */
export interface NameIndex {
  /** About how many names have it; exact where that is few. `enough` says from where on it does not matter. */
  estimate(term: Term, options: { total: number; enough: number }): Promise<number>
  byGrams(term: Term, limit: number, category?: string): Promise<Product[]>
  alongNames(term: Term, limit: number): Promise<Product[]>
  /** Along the names of one category. */
  alongCategory(term: Term, limit: number, category: string): Promise<Product[]>
}

/** No name is longer, in the units of JavaScript: 255 characters of two, each of which may become two in lower case. */
const maxLength = 1020

/** A row found by the index costs about as much as walking along so many names. */
const walkedPerFound = 12

export function createProductSearch({ store, counts, index, columns }: SearchDeps) {
  return {
    async byName(q: string, limit: number, category?: string): Promise<Product[]> {
      if (!isStorable(q) || q.length > maxLength || !isStorable(category ?? '')) return []
      const term = toTerm(q)
      const total = await counts.total('products')
      // Where both ways cost the same: found × walkedPerFound = limit × total / found.
      const enough = Math.ceil(Math.sqrt((Math.min(limit, total) * total) / walkedPerFound))
      const estimate = await index.estimate(term, { total, enough })
      if (estimate <= enough) return index.byGrams(term, limit, category)
      return category === undefined ? index.alongNames(term, limit) : index.alongCategory(term, limit, category)
    },

    async byCategory(category: string, limit: number): Promise<Product[]> {
      // No product has what cannot be stored.
      if (!isStorable(category)) return []
      return store.listByCategory(category, limit, columns)
    },
  }
}

export type ProductSearch = ReturnType<typeof createProductSearch>

export function toTerm(q: string): Term {
  const text = toNameKey(q)
  const characters = [...text]
  if (characters.length < 3) return { text, grams: [text], isShort: true }
  // Every third, and the last: together they touch every character.
  const starts = new Set([...characters.keys()].filter((i) => i % 3 === 0 && i + 3 <= characters.length))
  starts.add(characters.length - 3)
  const grams = Array.from(starts, (start) => characters.slice(start, start + 3).join(''))
  return { text, grams: grams.slice(0, maxGrams), isShort: false }
}

/** More would not make a find rarer. */
const maxGrams = 16
