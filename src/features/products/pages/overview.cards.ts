/** Products on the overview. */
import type { Principal } from '../../../platform/access/route-guards.ts'
import type { Card } from '../../../platform/pages/cards.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { formatNumber } from '../../../platform/pages/components/numbers.ts'
import { html } from '../../../platform/pages/html.ts'
import type { ProductsService } from '../products.create.ts'
import { recentChangesCard } from './history.views.ts'
import { readerOf } from './product-pages.ts'

const listedChanges = 8

/** For everybody: all users see the products and their history. */
export function createProductCards({ countProducts, history, forms }: ProductsService): Card<Principal>[] {
  return [
    {
      order: 10,
      show: async () => html`<section class="card" aria-labelledby="products">
<h2 id="products">Products</h2>
${figureList([[formatNumber(await countProducts()), 'Products in all']])}
<p class="beside"><a href="/console/products">All products</a></p>
</section>`,
    },
    {
      order: 95,
      show: async (_principal, request) =>
        recentChangesCard(await history.readRecent({ limit: listedChanges, reader: readerOf(request, forms) })),
    },
  ]
}
