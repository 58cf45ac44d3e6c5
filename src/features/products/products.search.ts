/**
 * Search by substring of the name and by category, in the order of names. A substring is found in one of two ways: by a
 * trigram index, whose cost grows with the number of matches, or by walking the names in order until there are enough. The
 * first suits rare terms, the second common ones. The engines' parts are in name-index.*.store.ts.
 */
import { isStorable } from '../../core/text.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import type { Params } from '../../platform/listing/list-params.ts'
import type { TextIndex } from '../../platform/listing/sorted-list.store.ts'
import { type Product, toNameKey } from './product.ts'
import type { ProductStore } from './products.store.ts'

export interface SearchDeps {
  store: ProductStore
  counts: MaintainedCounts
  index: NameIndex
  /** The columns to read. */
  columns: string
}

/** A prepared search term. */
export interface Term {
  text: string
  /** Trigrams that together cover the term; for a shorter term, the term itself. */
  grams: readonly string[]
  isShort: boolean
}

/** Substring search of an engine. */
export interface NameIndex {
  /** Estimates the number of matching names; exact for few. Need not count beyond `enough`. */
  estimate(term: Term, options: { total: number; enough: number }): Promise<number>
  byGrams(term: Term, limit: number, category?: string): Promise<Product[]>
  alongNames(term: Term, limit: number): Promise<Product[]>
  /** Walks the names of one category. */
  alongCategory(term: Term, limit: number, category: string): Promise<Product[]>
  /** Whether so many names match that looking up even the first ones would take long. */
  isCommon(term: Term, total: number): Promise<boolean>
  /** Selects at most `most` candidates, active or not: all products whose name contains the term, if there are fewer. */
  writeCondition(term: Term, params: Params, most: number): string
}

/** UTF-16 units of the longest name key: 255 characters of two units, each of which may become two in lower case. */
const maxLength = 1020

/** A row found by the index costs about as much as walking this many names. */
const walkedPerFound = 12

export function createProductSearch({ store, counts, index, columns }: SearchDeps) {
  return {
    async byName(q: string, limit: number, category?: string): Promise<Product[]> {
      if (!isStorable(q) || q.length > maxLength || !isStorable(category ?? '')) return []
      const term = toTerm(q)
      const total = await counts.total('products')
      // The break-even point: found × walkedPerFound = limit × total / found.
      const enough = Math.ceil(Math.sqrt((Math.min(limit, total) * total) / walkedPerFound))
      const estimate = await index.estimate(term, { total, enough })
      if (estimate <= enough) return index.byGrams(term, limit, category)
      return category === undefined ? index.alongNames(term, limit) : index.alongCategory(term, limit, category)
    },

    async byCategory(category: string, limit: number): Promise<Product[]> {
      if (!isStorable(category)) return []
      return store.listByCategory(category, limit, columns)
    },
  }
}

/** For sorted lists. The text is a name key already. */
export function createNameTextIndex({ counts, index }: Pick<SearchDeps, 'counts' | 'index'>): TextIndex {
  return {
    isCommon: async (text) => index.isCommon(toTerm(text), await counts.total('products')),
    writeCondition: (text, params, most) => index.writeCondition(toTerm(text), params, most),
  }
}

export type ProductSearch = ReturnType<typeof createProductSearch>

export function toTerm(q: string): Term {
  const text = toNameKey(q)
  const characters = [...text]
  if (characters.length < 3) return { text, grams: [text], isShort: true }
  // Every third trigram and the last one: together they cover every character.
  const starts = new Set([...characters.keys()].filter((i) => i % 3 === 0 && i + 3 <= characters.length))
  starts.add(characters.length - 3)
  const grams = Array.from(starts, (start) => characters.slice(start, start + 3).join(''))
  return { text, grams: grams.slice(0, maxGrams), isShort: false }
}

/** More would not narrow the result further. */
const maxGrams = 16
