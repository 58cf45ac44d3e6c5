/** The product service for console forms, with the same rules as the API. */
import type { Principal } from '../../../platform/access/route-guards.ts'
import {
  type BodyValidator,
  compileBody,
  requireValid,
  validationFailed,
} from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { unclearPrice } from '../price-text.ts'
import { etagOfProduct, type Product } from '../product.ts'
import { createWriteAccess } from '../products.access.ts'
import { EditedProduct, NewProduct, toChange, toInput } from '../products.schema.ts'
import type { Products } from '../products.service.ts'

/** Submitted values by field; all are text. */
export type Form = Readonly<Record<string, unknown>>

export type ProductForms = ReturnType<typeof createProductForms>

export function createProductForms({ writePermission }: { writePermission: string | undefined }, products: Products) {
  const validateNew = compileBody(NewProduct)
  const validateEdited = compileBody(EditedProduct)
  const { price, stock } = EditedProduct.properties
  const validateRow = compileBody(Type.Object({ price, stock }))
  return {
    ...products,
    writeAccess: createWriteAccess(writePermission),
    mayWrite: (principal: Pick<Principal, 'can'>) => writePermission === undefined || principal.can(writePermission),
    /** Throws validation errors. A form that is submitted twice creates one product, by its `key`. */
    async create(form: Form, { userId, key }: { userId: number; key: string }) {
      const input = toInput(requireClear(validateNew, form))
      // Part of the key: after "back", other values mean another product.
      return products.createOnce(input, { userId, key: `${key} ${JSON.stringify(input)}` })
    },
    /** Throws 412 if the product's ETag is no longer `tag`. */
    update: async (id: number | undefined, form: Form, { tag, userId }: { tag: string; userId: number }) =>
      products.update(id, toChange(requireClear(validateEdited, form)), {
        by: userId,
        isExpected: (etag) => etag === tag,
      }),
    /** Price and stock alone. Throws as `update` does. */
    updateRow: async (id: number, form: Form, { tag, userId }: { tag: string; userId: number }) =>
      products.update(id, toChange(requireClear(validateRow, form)), {
        by: userId,
        isExpected: (etag) => etag === tag,
      }),
    tagOf: (product: Product) => etagOfProduct(product),
  }
}

/** Like `requireValid`, and refuses a price that may be either of two. */
function requireClear<Body>(validate: BodyValidator<Body>, form: Form): Body {
  const unclear = unclearPrice(form.price)
  if (unclear === undefined) return requireValid(validate, form)
  const outcome = validate(form)
  const others = 'error' in outcome ? (outcome.error.extra?.details as Record<string, string[]>) : {}
  throw validationFailed({ ...others, price: [unclear] })
}
