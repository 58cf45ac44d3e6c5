/** The product entity and its derived values. */
import { createHash, hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { lowerByCodePoint } from '../../core/text.ts'

/** Validated input. */
export interface ProductInput {
  name: string
  description: string
  price_cents: number
  category: string
  stock: number
}

/** Everything that a client can set. */
export interface ProductValues extends ProductInput {
  active: boolean
}

export type ProductChange = Partial<ProductValues>

export interface Product extends ProductValues {
  id: number
  slug: string
  /** Incremented with every change. */
  version: number
  created_at: string
  updated_at: string
}

export interface ListedProduct extends Omit<Product, 'description'> {
  /** Null if it is too long to be read with the list. */
  description: string | null
}

/** Identifies one version of a product. */
export type ProductKey = Pick<Product, 'id' | 'version' | 'updated_at'>

export function isWhole(product: ListedProduct): product is Product {
  return product.description !== null
}

/** Splits a list, in order, into runs of complete products and single products with long descriptions. */
export function groupByLength(products: readonly ListedProduct[]): ListedProduct[][] {
  const groups: ListedProduct[][] = []
  let previous: ListedProduct | undefined
  for (const product of products) {
    if (previous && isWhole(previous) && isWhole(product)) groups.at(-1)?.push(product)
    else groups.push([product])
    previous = product
  }
  return groups
}

export const defaultCategory = 'general'
const maxSlugLength = 300

/** Unique per change, even after a backup was restored, because it includes the time. */
export function etagOfProduct({ version, updated_at }: Pick<Product, 'version' | 'updated_at'>): string {
  return `"${version}-${updated_at}"`
}

/** List ETag: a hash of the items' versions, not of the body. */
export function etagOfProducts(products: readonly ProductKey[], rest: object): string {
  let state = JSON.stringify(rest)
  for (const product of products) state += stateOf(product)
  return `"${hash('sha1', state, 'base64url')}"`
}

const hashedPerTurn = 2000

/** Like `etagOfProducts`, but yields to the event loop for long lists. */
export async function etagOfManyProducts(products: readonly ProductKey[], rest: object): Promise<string> {
  if (products.length <= hashedPerTurn) return etagOfProducts(products, rest)
  const sum = createHash('sha1').update(JSON.stringify(rest))
  for (let start = 0; start < products.length; start += hashedPerTurn) {
    await nextTurn()
    sum.update(
      products
        .slice(start, start + hashedPerTurn)
        .map(stateOf)
        .join(''),
    )
  }
  return `"${sum.digest('base64url')}"`
}

function stateOf({ id, version, updated_at }: ProductKey): string {
  return ` ${id}-${version}-${updated_at}`
}

/** Letters of the Latin alphabet that Unicode does not decompose. */
const baseLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
}

export function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþħı]/g, (letter) => baseLetters[letter] as string)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxSlugLength)
    .replace(/-$/, '')
}

/** The key for searching and sorting names. */
export function toNameKey(name: string): string {
  return lowerByCodePoint(name)
}

/** `$1,234.50` */
export function formatPrice(cents: number): string {
  const text = String(cents).padStart(3, '0')
  const dollars = text.slice(0, -2)
  return `$${dollars.length > 3 ? dollars.replace(/\B(?=(?:\d{3})+$)/g, ',') : dollars}.${text.slice(-2)}`
}
