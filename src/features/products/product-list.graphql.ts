/** Resolves the query `products`: search, category or page, within the response budget. */
import {
  awaitLongResponseSlot,
  readWithin,
  responseTooLarge,
} from '../../platform/graphql/execution/response-budget.ts'
import type { Context } from '../../platform/graphql/schema/elements.ts'
import type { Selection } from '../../platform/graphql/schema/selection.ts'
import { metaOf, type Page, pageOf } from '../../platform/http/paging.ts'
import type { Product } from './product.ts'
import { toFields } from './product-fields.ts'
import type { Products, Wanted } from './products.service.ts'

export interface ListArgs {
  q?: string | null
  category?: string | null
  page?: number | null
  perPage?: number | null
}

interface Asked {
  products: Products
  context: Context
  /** The selected fields of each product. */
  selection: Selection | undefined
}

/**
 * The assumed size of a search or a category for the cost limit. The actual size is unknown beforehand; it is limited while
 * reading, so that everything REST can return is possible here too.
 */
const assumedProducts = 1000

/** The assumed number of products, for the cost limit. */
export function sizeOfList(args: ListArgs, collectionLimit: number): number {
  if (!isGiven(args.q) && !isGiven(args.category)) return askedPage(args).perPage
  return collectionLimit === 0 ? assumedProducts : Math.min(collectionLimit, assumedProducts)
}

export async function listProducts(
  args: ListArgs,
  { products, context, selection }: { products: Products; context: Context; selection: Selection },
) {
  const asked = { products, context, selection: selection.fields.get('data')?.selection }
  if (isGiven(args.q)) return collect(asked, { q: args.q, category: undefined })
  if (isGiven(args.category)) return collect(asked, { q: undefined, category: args.category })
  return readPage(asked, askedPage(args))
}

async function readPage(asked: Asked, page: Page) {
  let total = 0
  const data = await read(asked, async () => {
    const listed = await asked.products.listBrief(page)
    total = listed.total
    return listed.products
  })
  const meta = metaOf(page, total)
  return {
    data,
    meta: { total, page: meta.page, perPage: meta.per_page, lastPage: meta.last_page, truncated: false },
  }
}

async function collect(asked: Asked, wanted: Wanted) {
  let truncated = false
  const data = await read(asked, async (objects) => {
    const { products, isCut } = await asked.products.collectBrief(wanted, objects)
    truncated = isCut
    return products
  })
  return { data, meta: { total: data.length, truncated } }
}

/** Descriptions are loaded separately, and only if selected. */
function read(asked: Asked, find: (objects: number) => Promise<readonly Product[]>) {
  const { context, selection } = asked
  return readWithin({
    context,
    selection,
    async read({ objects, characters }) {
      const products = await find(objects)
      const times = selection?.fields.get('description')?.names.length ?? 0
      if (times === 0) return products.map(toFields)
      const ids = products.map(({ id }) => id)
      const bytes = await asked.products.measureDescriptions(ids)
      if (bytes * times > characters) throw responseTooLarge()
      await awaitLongResponseSlot({ context, characters: bytes * times })
      const descriptions = await asked.products.readDescriptions(ids)
      return products.map((each) => toFields({ ...each, description: descriptions.get(each.id) ?? '' }))
    },
  })
}

function askedPage({ page, perPage }: ListArgs): Page {
  return pageOf({ page: textOf(page), per_page: textOf(perPage) })
}

/** As in a query string: blank counts as absent. */
function isGiven(text: string | null | undefined): text is string {
  return typeof text === 'string' && text.trim() !== ''
}

function textOf(number: number | null | undefined): string | undefined {
  return number === null || number === undefined ? undefined : String(number)
}
