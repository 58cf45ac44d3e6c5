/** The JSON resource of a product. Its GraphQL type and the exported columns are made from this schema. */
import { Type, type Validated } from '../../platform/validation/schema-builder.ts'
import { formatPrice, type Product } from './product.ts'

type Stored = Exclude<keyof Product, 'id' | 'price_cents' | 'version'>
type Attribute = Stored | 'price' | 'formatted_price' | 'in_stock'

export const ProductResource = Type.Object(
  {
    id: Type.Integer({ format: 'int64' }),
    type: Type.Literal('products'),
    attributes: Type.Object({
      name: Type.String(),
      slug: Type.String(),
      description: Type.String(),
      price: Type.Number(),
      formatted_price: Type.String(),
      category: Type.String(),
      stock: Type.Integer(),
      in_stock: Type.Boolean(),
      active: Type.Boolean(),
      created_at: Type.String({ format: 'date-time' }),
      updated_at: Type.String({ format: 'date-time' }),
    } satisfies Record<Attribute, unknown>),
  },
  { title: 'Product' },
)
export type ProductResource = Validated<typeof ProductResource>
export const OneProduct = Type.Object({ data: ProductResource }, { title: 'ProductEnvelope' })

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
