import { type Product, toResource } from './product.ts'

/** The fields of the GraphQL type Product. */
export function toFields(product: Product) {
  const { id, attributes } = toResource(product)
  const { formatted_price, in_stock, created_at, updated_at, ...rest } = attributes
  return {
    id,
    ...rest,
    formattedPrice: formatted_price,
    inStock: in_stock,
    createdAt: created_at,
    updatedAt: updated_at,
  }
}
