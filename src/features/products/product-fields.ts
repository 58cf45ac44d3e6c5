import type { Product } from './product.ts'
import { type ProductResource, toResource } from './product-resource.ts'

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

type Attributes = ProductResource['attributes']

/** The fields of the GraphQL type Product: the attributes of the resource, in camel case. */
export type ProductFields = { id: number } & {
  [Name in keyof Attributes as CamelCase<Name>]: Attributes[Name]
}

export function toFields(product: Product): ProductFields {
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
