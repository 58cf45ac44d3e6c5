/** A product in the forms in which a copy, a reader or the table has it, made comparable. */
import type { Row } from '../kills/reader.ts'

export interface ProductRow {
  id: number
  /** All of its values. */
  text: string
}

interface Values {
  name: unknown
  slug: unknown
  description: unknown
  /** In cents: a fraction is not the same number in every form. */
  cents: unknown
  category: unknown
  stock: unknown
  active: unknown
  created: unknown
  updated: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: what a consumer has received, whose shape is what is tested
type Received = any

export function ofResource({ id, attributes: a }: Received): ProductRow {
  return rowOf(id, { ...a, cents: a.price * 100, created: a.created_at, updated: a.updated_at })
}

export function ofGraphQL(product: Received): ProductRow {
  const { price, createdAt, updatedAt } = product
  return rowOf(Number(product.id), { ...product, cents: price * 100, created: createdAt, updated: updatedAt })
}

/** The fields that `ofGraphQL` needs. */
export const productFields = 'id name slug description price category stock active createdAt updatedAt'

export function ofTable(row: Row): ProductRow {
  const { id, price_cents, created_at, updated_at } = row
  return rowOf(Number(id), {
    ...(row as unknown as Values),
    cents: price_cents,
    created: created_at,
    updated: updated_at,
  })
}

function rowOf(id: number, values: Values): ProductRow {
  const { name, slug, description, cents, category, stock, active, created, updated } = values
  const times = [created, updated].map((time) => new Date(time as string | Date).toISOString())
  const numbers = [Math.round(Number(cents)), Number(stock)]
  return { id, text: JSON.stringify([name, slug, description, category, Boolean(active), ...numbers, ...times]) }
}
