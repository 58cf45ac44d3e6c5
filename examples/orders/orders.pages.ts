/** Orders in the console: a list, and a page per order with a cancel button. */
import {
  beyondLast,
  clientOf,
  type FastifyInstance,
  type FastifyRequest,
  html,
  idOf,
  metaOf,
  type PageKit,
  pageOf,
  pager,
  principalOf,
  time,
} from 'latchkey/feature'
import type { Orders } from './orders.service.ts'
import type { Order } from './orders.store.ts'

export interface OrderPagesDeps extends PageKit {
  orders: Orders
}

const path = '/console/orders'

export function addOrderPages(app: FastifyInstance, { orders, send, notices }: OrderPagesDeps): void {
  const entity = async (request: FastifyRequest) => {
    const id = idOf(request)
    return id === undefined ? undefined : orders.find(id)
  }
  const requires = (action: 'view' | 'cancel') =>
    ({ access: ['authenticated', { policy: 'orders', action, entity }], docs: false }) as const

  app.get('/orders', { config: { access: 'authenticated', docs: false } }, async (request, reply) => {
    const page = pageOf(request.query)
    const { orders: listed, total } = await orders.list(principalOf(request), page)
    const meta = metaOf(page, total)
    const list = html`<div class="card list"><table class="stack">
<thead><tr><th scope="col">Order</th><th scope="col">Placed</th><th scope="col">Items</th><th scope="col">Total</th><th scope="col">Status</th></tr></thead>
<tbody>${listed.map(row)}</tbody>
</table></div>${pager(path, meta)}`
    return send(request, reply, {
      title: 'Orders',
      content: html`<h1>Orders</h1>${listed.length === 0 ? beyondLast(path, meta) : list}`,
    })
  })

  app.get('/orders/:id', { config: requires('view') }, (request, reply) =>
    send(request, reply, orderPage(request.entity as Order)),
  )

  app.post('/orders/:id/cancel', { config: requires('cancel') }, async (request, reply) => {
    const { id } = await orders.cancel(request.entity as Order, {
      id: principalOf(request).id,
      client: clientOf(request),
    })
    return notices.redirect(reply, { address: `${path}/${id}`, notice: 'order-cancelled' })
  })
}

function row({ id, created_at, items, total_cents, status }: Order) {
  return html`<tr>
<td data-label="Order"><a href="${path}/${id}">Order ${id}</a></td>
<td data-label="Placed">${time(created_at)}</td>
<td data-label="Items">${items.length}</td>
<td data-label="Total">${dollars(total_cents)}</td>
<td data-label="Status">${badge(status)}</td>
</tr>`
}

function orderPage({ id, status, created_at, items, total_cents }: Order) {
  return {
    title: `Order ${id}`,
    content: html`<p class="trail"><a href="${path}">← Orders</a></p>
<h1>Order ${id}</h1>
<p>${badge(status)} Placed ${time(created_at)}</p>
<div class="card list"><table class="stack">
<thead><tr><th scope="col">Product</th><th scope="col">Quantity</th><th scope="col">Price</th></tr></thead>
<tbody>${items.map(
      (item) => html`<tr>
<td data-label="Product">${item.name}</td>
<td data-label="Quantity">${item.quantity}</td>
<td data-label="Price">${dollars(item.unit_cents)}</td>
</tr>`,
    )}</tbody>
</table></div>
<p>Total: <strong>${dollars(total_cents)}</strong></p>
${
  status === 'placed' &&
  html`<form method="post" action="${path}/${id}/cancel"><button class="danger">Cancel the order</button></form>`
}`,
  }
}

function badge(status: Order['status']) {
  return html`<span class="badge${status === 'placed' && ' good'}">${status === 'placed' ? 'Placed' : 'Cancelled'}</span>`
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`
}
