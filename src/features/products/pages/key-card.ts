/** What a new API key is good for: a command that makes a product, to paste into a terminal. */
import type { Card, ShownKey } from '../../../platform/pages/cards.ts'
import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { html } from '../../../platform/pages/html.ts'
import type { ProductsService } from '../products.create.ts'
import { productsPath } from '../products.routes.ts'

const example = JSON.stringify({ name: 'My first product', description: 'Made with an API key', price: 12.5, stock: 3 })

export function createKeyCard({ forms }: Pick<ProductsService, 'forms'>): Card<ShownKey> {
  return {
    show(shown) {
      if (!forms.mayWrite(shown) || !shown.allows('products.create')) return undefined
      const { key, address } = shown
      return html`<section class="medium card" aria-labelledby="key-product">
<h2 id="key-product">Make a product with it</h2>
<p>Paste this into a terminal. The product appears in the <a href="/console/products" target="_blank">list of products</a> at once.</p>
<p class="codes key" id="key-command"><code>curl '${address}${productsPath}' -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${example}'</code></p>
${copyActions({ target: 'key-command' })}
</section>`
    },
  }
}
