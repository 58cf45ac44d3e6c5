import { roundDecimal } from '../../core/decimal.ts'
import { Type, type Validated } from '../../platform/validation/schema-builder.ts'
import { defaultCategory, type ProductChange, type ProductInput, type ProductValues } from './product.ts'

const nameLength = { minLength: 2, maxLength: 255 }
const Price = { minimum: 0.01, maximum: 99_999_999.99, 'x-decimals': 2 }
const Category = Type.Optional(Type.String({ maxLength: 100 }))
const Stock = { format: 'int32', minimum: 0, maximum: 2_147_483_647 }

type BodyField = Exclude<keyof ProductValues, 'price_cents'> | 'price'

export const NewProduct = Type.Object({
  name: Type.String({ 'x-not-blank': true, ...nameLength }),
  description: Type.String({ 'x-not-blank': true }),
  price: Type.Number({ 'x-not-blank': true, ...Price }),
  category: Category,
  stock: Type.Optional(Type.Integer({ ...Stock, default: 0 })),
} satisfies Record<Exclude<BodyField, 'active'>, unknown>)

export const ChangedProduct = Type.Object({
  name: Type.Optional(Type.String({ 'x-not-blank': true, ...nameLength })),
  description: Type.Optional(Type.String()),
  price: Type.Optional(Type.Number(Price)),
  category: Category,
  stock: Type.Optional(Type.Integer(Stock)),
  active: Type.Optional(Type.Boolean()),
} satisfies Record<BodyField, unknown>)

/** For forms, which submit all fields: a cleared field is blank, not omitted. */
export const EditedProduct = Type.Object({
  ...ChangedProduct.properties,
  name: Type.String({ 'x-not-blank': true, ...nameLength }),
  price: Type.Number({ 'x-not-blank': true, ...Price }),
  stock: Type.Integer({ 'x-not-blank': true, ...Stock }),
})

/** Takes a body validated by NewProduct. */
export function toInput({ name, description, price, category, stock }: Validated<typeof NewProduct>): ProductInput {
  return { name, description, price_cents: toCents(price), category: orDefault(category ?? ''), stock }
}

/** Takes a body validated by ChangedProduct. */
export function toChange({ price, category, ...rest }: Validated<typeof ChangedProduct>): ProductChange {
  return {
    ...rest,
    ...(price !== undefined && { price_cents: toCents(price) }),
    ...(category !== undefined && { category: orDefault(category) }),
  }
}

function toCents(price: number): number {
  return roundDecimal(String(price), 2)
}

/** A blank category could not be queried, because a blank parameter counts as absent. */
function orDefault(category: string): string {
  return category.trim() === '' ? defaultCategory : category
}
