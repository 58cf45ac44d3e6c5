/** Products as the console has them: the services and rules of the API, for forms. */
import type { Principal } from '../../../platform/access/route-guards.ts'
import { compileBody, requireValid } from '../../../platform/validation/body-validation.ts'
import { etagOfProduct, formatPrice, type Product } from '../product.ts'
import { createWriteAccess } from '../products.access.ts'
import { EditedProduct, NewProduct, toChange, toInput } from '../products.schema.ts'
import type { Products } from '../products.service.ts'

/** What a form holds, by field. Everything is text. */
export type Form = Readonly<Record<string, unknown>>

export type ProductForms = ReturnType<typeof createProductForms>

export function createProductForms({ writePermission }: { writePermission: string | undefined }, products: Products) {
  const validateNew = compileBody(NewProduct)
  const validateEdited = compileBody(EditedProduct)
  return {
    ...products,
    /** What creating, changing and deleting takes. */
    writeAccess: createWriteAccess(writePermission),
    mayWrite: (principal: Principal) => writePermission === undefined || principal.can(writePermission),
    /** Throws what is wrong with the form, by field. A form that is sent twice makes one product: `key` tells. */
    async create(form: Form, { userId, key }: { userId: number; key: string }) {
      const input = toInput(requireValid(validateNew, form))
      // Whoever goes back and types something else means another product.
      return products.createOnce(input, { userId, key: `${key} ${JSON.stringify(input)}` })
    },
    /** 412 where the product is no longer the one that `tag` stands for. */
    update: async (id: number | undefined, form: Form, tag: string) =>
      products.update(id, toChange(requireValid(validateEdited, form)), (etag) => etag === tag),
    /** Stands for this state of it. */
    tagOf: (product: Product) => etagOfProduct(product),
    formatPrice,
  }
}
