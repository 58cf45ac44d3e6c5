/** A product as it is stored, and what follows from that. */
import { createHash, hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { lowerByCodePoint } from '../../core/text.ts'

export interface Product {
  id: number
  name: string
  slug: string
  description: string
  price_cents: number
  category: string
  active: boolean
  stock: number
  /** Grows with every change. */
  version: number
  created_at: string
  updated_at: string
}

/** A product of a list. */
export interface ListedProduct extends Omit<Product, 'description'> {
  /** Null where it is too long to be read with the others. */
  description: string | null
}

/** What tells one version of a product from another. */
export type ProductKey = Pick<Product, 'id' | 'version' | 'updated_at'>

export function isWhole(product: ListedProduct): product is Product {
  return product.description !== null
}

/** In their order: those that are whole together, and each of the others by itself. */
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

/** What a product is made from. The price is in whole cents by now. */
export interface ProductInput {
  name: string
  description: string
  price_cents: number
  category: string
  stock: number
}

/** Only what is given is changed. */
export type ProductChange = Partial<ProductInput & { active: boolean }>

export interface ProductResource {
  id: number
  type: 'products'
  attributes: Omit<Product, 'id' | 'price_cents' | 'version'> & {
    price: number
    formatted_price: string
    in_stock: boolean
  }
}

export const defaultCategory = 'general'
const maxSlugLength = 300

export function toResource(product: Product): ProductResource {
  const { id, name, slug, description, price_cents, category, stock, active, created_at, updated_at } = product
  return {
    id,
    type: 'products',
    attributes: {
      name,
      slug,
      description,
      price: price_cents / 100,
      formatted_price: formatPrice(price_cents),
      category,
      stock,
      in_stock: stock > 0 && active,
      active,
      created_at,
      updated_at,
    },
  }
}

/** Every change has another one, even where a backup was restored in between. */
export function etagOfProduct({ version, updated_at }: Pick<Product, 'version' | 'updated_at'>): string {
  return `"${version}-${updated_at}"`
}

/** A hash of the items' versions, not of the answer. */
export function etagOfProducts(products: readonly ProductKey[], rest: object): string {
  let state = JSON.stringify(rest)
  for (const product of products) state += stateOf(product)
  return `"${hash('sha1', state, 'base64url')}"`
}

const hashedPerTurn = 2000

/** The same for a list of any length: the event loop serves others in between. */
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

export function toSlug(name: string): string {
  // Cut before the last hyphen goes: a few letters become two in lower case, one of which becomes a hyphen.
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxSlugLength)
    .replace(/-$/, '')
}

/** What names are searched and sorted by. */
export function toNameKey(name: string): string {
  return lowerByCodePoint(name)
}

/** `$1,234.50` */
export function formatPrice(cents: number): string {
  const text = String(cents).padStart(3, '0')
  const dollars = text.slice(0, -2)
  return `$${dollars.length > 3 ? dollars.replace(/\B(?=(?:\d{3})+$)/g, ',') : dollars}.${text.slice(-2)}`
}
