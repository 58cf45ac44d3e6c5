import {
  clientOf,
  type FastifyInstance,
  type FastifyRequest,
  idOf,
  metaOf,
  pageOf,
  principalOf,
} from 'latchkey/feature'
import { docs } from './orders.docs.ts'
import { NewOrder } from './orders.schema.ts'
import { type Orders, toResource } from './orders.service.ts'
import type { Order } from './orders.store.ts'

/** A plugin below /api/orders. All its routes require a token. */
export async function orderRoutes(app: FastifyInstance, { orders }: { orders: Orders }): Promise<void> {
  app.requireForAll('authenticated')
  const entity = async (request: FastifyRequest) => {
    const id = idOf(request)
    return id === undefined ? undefined : orders.find(id)
  }

  app.post(
    '/',
    { config: { access: { keyPermission: 'orders.create' }, docs: docs.place }, schema: { body: NewOrder } },
    async (request, reply) => {
      const order = await orders.place(principalOf(request), request.body)
      return reply
        .code(201)
        .header('location', `/api/orders/${order.id}`)
        .send({ data: toResource(order) })
    },
  )

  app.get('/', { config: { access: { keyPermission: 'orders.read' }, docs: docs.list } }, async (request) => {
    const page = pageOf(request.query)
    const { orders: listed, total } = await orders.list(principalOf(request), page)
    return { data: listed.map(toResource), meta: metaOf(page, total) }
  })

  app.get(
    '/:id',
    { config: { access: { policy: 'orders', action: 'view', entity }, docs: docs.read } },
    async (request) => ({ data: toResource(request.entity as Order) }),
  )

  app.post(
    '/:id/cancel',
    { config: { access: { policy: 'orders', action: 'cancel', entity }, docs: docs.cancel } },
    async (request) => {
      const actor = { id: principalOf(request).id, client: clientOf(request) }
      return { data: toResource(await orders.cancel(request.entity as Order, actor)) }
    },
  )
}
