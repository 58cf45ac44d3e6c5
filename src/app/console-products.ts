/** Products as the console has them: the services and rules of the API, for forms. */
import type { Products as ConsoleProducts } from '../features/console/console.needs.ts'
import { etagOfProduct, formatPrice, type Product } from '../features/products/product.ts'
import { createWriteAccess } from '../features/products/products.access.ts'
import {
  type ChangedProductBody,
  EditedProduct,
  NewProduct,
  type NewProductBody,
  toChange,
  toInput,
} from '../features/products/products.schema.ts'
import type { Products } from '../features/products/products.service.ts'
import { compileBody, requireValid } from '../platform/validation/body-validation.ts'

export function createConsoleProducts(
  { writePermission }: { writePermission: string | undefined },
  products: Products,
): ConsoleProducts {
  const validateNew = compileBody(NewProduct)
  const validateEdited = compileBody(EditedProduct)
  return {
    ...products,
    writeAccess: createWriteAccess(writePermission),
    mayWrite: (principal) => writePermission === undefined || principal.can(writePermission),
    async create(form, { userId, key }) {
      const input = toInput(requireValid<NewProductBody>(validateNew, form))
      // Whoever goes back and types something else means another product.
      return products.createOnce(input, { userId, key: `${key} ${JSON.stringify(input)}` })
    },
    update: async (id, form, tag) =>
      products.update(id, toChange(requireValid<ChangedProductBody>(validateEdited, form)), (etag) => etag === tag),
    // Every product that the console has came from the service.
    tagOf: (product) => etagOfProduct(product as Product),
    formatPrice,
  }
}
