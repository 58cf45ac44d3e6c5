/** Products in the search over the whole console. */
import type { Finder } from '../../../platform/pages/frame/search.ts'
import type { ProductsService } from '../products.create.ts'

const limit = 5
/** Found by any part of their names, in the order of names. */
const looked = 100

export function createProductFinder({ products }: Pick<ProductsService, 'products'>): Finder {
  return {
    heading: 'Products',
    icon: 'products',
    async find(q) {
      const found = await products.find({ q, category: undefined, limit: looked })
      return bestFirst(found, q)
        .slice(0, limit)
        .map(({ id, name, category }) => ({
          path: `/console/products/${id}`,
          name,
          hint: category ?? '',
        }))
    },
  }
}

/** Those with a word that begins with the text. */
function bestFirst<T extends { name: string }>(found: readonly T[], text: string): T[] {
  const wanted = ` ${text.toLowerCase()}`
  const groups = Map.groupBy(found, ({ name }) => ` ${name.toLowerCase()}`.includes(wanted))
  return [...(groups.get(true) ?? []), ...(groups.get(false) ?? [])]
}
