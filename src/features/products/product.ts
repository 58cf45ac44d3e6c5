/** A product as it is stored, and what follows from that. */
import { hash } from 'node:crypto'
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
export function etagOfProduct({ version, updated_at }: Product): string {
  return `"${version}-${updated_at}"`
}

/** What they say of themselves says it of all of them: their whole answer need not be looked at. */
export function etagOfProducts(products: readonly Product[], rest: object): string {
  let state = JSON.stringify(rest)
  for (const { id, version, updated_at } of products) state += ` ${id}-${version}-${updated_at}`
  return `"${hash('sha1', state, 'base64url')}"`
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
