/** What is shown if a product was deleted while somebody changed it in its row: nothing typed is lost. */
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Product } from '../product.ts'
import { listPath } from './list-address.ts'

export interface GoneRow {
  /** Undefined if its deletion cannot be undone. */
  deleted: Pick<Product, 'id' | 'name'> | undefined
  /** By column. Those that were not sent are not shown. */
  typed: Readonly<Record<string, unknown>>
}

export function goneRow({ deleted, typed }: GoneRow): Html {
  const told = Object.entries(typed).flatMap(([column, value]) =>
    typeof value === 'string' ? [`${column} ${value === '' ? 'empty' : value}`] : [],
  )
  return html`<div class="problem" role="alert" data-gone>
<p>${deleted ? html`“${deleted.name}”` : 'This product'} has been deleted meanwhile, so nothing is saved.${
    told.length > 0 && ` You typed: ${told.join(', ')}.`
  }</p>
${deleted && html`<form method="post" action="${listPath}/${deleted.id}/restore"><button>Undo the deletion</button></form>`}
</div>`
}
