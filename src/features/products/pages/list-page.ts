/** Reads and sends the list of products: by page, by a search, or in an order of choice. */
import type { FastifyRequest } from 'fastify'
import { type AskedList, type SendList, withRow } from '../../../collections/console/row-edit.routes.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { parseId } from '../../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../../platform/http/paging.ts'
import { chooseColumns, columnsParameter } from '../../../platform/pages/components/columns.ts'
import { withoutBlanks } from '../../../platform/pages/components/list-links.ts'
import { isAllPicked } from '../../../platform/pages/components/row-picks.ts'
import type { Product } from '../product.ts'
import { productTopic } from '../product-topic.ts'
import type { Wanted } from '../products.service.ts'
import { listParameters } from './list-address.ts'
import { listColumns } from './list-columns.ts'
import { asksForOrder, readOrdered } from './ordered-list.ts'
import type { ProductForms } from './product-forms.ts'
import { type ProductPagesDeps, textOf } from './product-pages.ts'
import { foundPerPage, type ListView, listPage, maxFoundPages } from './products.views.ts'

const maxCategories = 100
const perPage = 25

export function createListPage({ forms: products, sorted, changes, send }: ProductPagesDeps): SendList<Product> {
  async function readView(request: FastifyRequest, { query, edited, gone }: AskedList<Product>): Promise<ListView> {
    const wanted = { q: textOf(query.q), category: textOf(query.category) }
    const columns = chooseColumns(listColumns, query.columns)
    const kept = columnsParameter(listColumns, columns)
    const { columns: _given, ...given } = withoutBlanks(query)
    const page = { page: pageOf(query).page, perPage }
    const isFiltered = wanted.q !== undefined || wanted.category !== undefined
    // Before the rows are read, so that nothing falls between them and what the page then follows.
    const cursor = changes.cursors.issue(await changes.latestOf(productTopic.topic))
    const isOrdered = asksForOrder(given)
    const [categories, found, ordered, listed] = await Promise.all([
      products.listCategories(maxCategories),
      isFiltered && !isOrdered ? findPage(products, wanted, page.page) : undefined,
      isOrdered ? readOrdered(sorted, given, { kept, limit: perPage }) : undefined,
      isFiltered || isOrdered ? undefined : products.listNewest(page),
    ])
    const mayWrite = products.mayWrite(principalOf(request))
    return {
      wanted,
      cursor,
      categories,
      mayWrite,
      columns,
      kept,
      here: { ...listParameters(given), ...kept },
      isPicked: isAllPicked(query),
      // The parameter is untrusted, so the product is looked up.
      deleted: await products.findDeleted(parseId(textOf(query.deleted) ?? '')),
      edited: mayWrite ? edited?.edit : undefined,
      ...(gone && { gone }),
      ...(found && { found }),
      ...(ordered && { ordered }),
      ...(listed && { listed: { products: listed.products, meta: metaOf(page, listed.total) } }),
    }
  }

  return async (request, reply, asked) => {
    const view = await readView(request, asked)
    const status = asked.status ?? (view.ordered?.problem === undefined ? 200 : 422)
    const shown = asked.edited && view.mayWrite ? withEdited(view, asked.edited.row) : view
    return send(request, reply, listPage(shown), status)
  }
}

function withEdited(view: ListView, product: Product): ListView {
  const { listed, found, ordered } = view
  return {
    ...view,
    ...(listed && { listed: { ...listed, products: withRow(listed.products, product) } }),
    ...(found && { found: { ...found, products: withRow(found.products, product) } }),
    ...(ordered && {
      ordered: { ...ordered, page: { ...ordered.page, rows: [...withRow(ordered.page.rows, product)] } },
    }),
  }
}

/** Reads results up to the page, plus one to tell whether there is another page. */
async function findPage(products: ProductForms, wanted: Wanted, asked: number) {
  const page = Math.min(asked, maxFoundPages)
  const found = await products.find({ ...wanted, limit: page * foundPerPage + 1 })
  const start = (page - 1) * foundPerPage
  return { page, products: found.slice(start, start + foundPerPage), hasMore: found.length > start + foundPerPage }
}
