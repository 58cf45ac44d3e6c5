/** Products in the search over the whole console. */
import type { Finder } from '../../../platform/pages/frame/search.ts'
import type { ProductsService } from '../products.create.ts'

const limit = 5

export function createProductFinder({ products }: Pick<ProductsService, 'products'>): Finder {
  return {
    heading: 'Products',
    icon: 'products',
    async find(q) {
      const found = await products.find({ q, category: undefined, limit })
      return found.map(({ id, name, category }) => ({
        path: `/console/products/${id}`,
        name,
        hint: category ?? '',
      }))
    },
  }
}
