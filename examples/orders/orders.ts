/** Orders of products: an extension of Latchkey. To load it, add this file to `extensions` in the configuration. */
import { products, users } from 'latchkey'
import {
  all,
  any,
  belongsTo,
  type CollectionApi,
  can,
  choice,
  collection,
  decimal,
  json,
  me,
  never,
  onCreate,
  row,
  signedIn,
  time,
} from 'latchkey/collections'
import {
  AppError,
  defineCommand,
  exitCodes,
  FatalError,
  integer,
  isAppError,
  key,
  type ServiceOf,
  type Static,
  Type,
  validationFailed,
} from 'latchkey/feature'
import { inputType, objectType } from 'latchkey/graphql'

interface Needs {
  products: ServiceOf<typeof products>
}

const Items = Type.Array(
  Type.Object({
    product_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    quantity: Type.Integer({ minimum: 1, maximum: 1000 }),
    // As they were when the order was placed, whatever the client sends.
    name: Type.Optional(Type.String()),
    unit_price: Type.Optional(Type.Number()),
  }),
  { minItems: 1, maxItems: 1000, examples: [[{ product_id: 1, quantity: 2, name: 'Desk Lamp', unit_price: 19.99 }]] },
)
type Item = Static<typeof Items>[number]

const fields = {
  customer: belongsTo(users, { default: me, writable: never }),
  items: json({
    schema: Items,
    writable: onCreate,
    graphql: { type: '[OrderItem!]', input: '[OrderItemInput!]' },
    help: 'The products, with their names and prices as they were when the order was placed.',
  }),
  total: decimal({ scale: 2, default: 0, writable: never, help: 'In dollars.' }),
  status: choice(['placed', 'cancelled'], { default: 'placed' }),
  cancelled_at: time({ optional: true, writable: never }),
}

const outOfStock = (details: Record<string, string[]>) => new AppError(409, 'Out of stock', { extra: { details } })
const alreadyCancelled = () => new AppError(409, 'Order already cancelled')

const cancelStale = defineCommand<CollectionApi<typeof fields>, { days: string }>({
  name: 'orders:cancel-stale',
  describe: (command) =>
    void command
      .description('cancel orders that were placed long ago, and give their stock back')
      .requiredOption('--days <n>', 'how many days ago, at least'),
  async run({ open }, { options }) {
    if (!/^\d{1,4}$/.test(options.days)) throw new FatalError('--days must be a whole number', exitCodes.usage)
    const { service, infrastructure, close } = await open()
    try {
      const before = new Date(infrastructure.clock.now() - Number(options.days) * 86_400_000).toISOString()
      const stale = { filter: { status: 'placed', created_at: { lt: before } }, perPage: 100 }
      let cancelled = 0
      for (let { rows } = await service.list(stale); rows.length > 0; { rows } = await service.list(stale)) {
        for (const { id } of rows) cancelled += await cancel(service, id)
      }
      process.stdout.write(`cancelled ${cancelled} orders\n`)
    } finally {
      await close()
    }
  },
})

/** Returns 0 if the order has been cancelled in the meantime. */
async function cancel(orders: CollectionApi<typeof fields>, id: number): Promise<number> {
  try {
    await orders.update(id, { status: 'cancelled' })
    return 1
  } catch (error) {
    if (isAppError(error, 'order_already_cancelled')) return 0
    throw error
  }
}

export default collection({
  name: 'orders',
  needs: { products },
  config: { orders: { maxItems: key('orders.max_items', integer({ min: 1, max: 1000 }), 50, 'ORDERS_MAX_ITEMS') } },
  fields,
  rules: {
    read: any(row.customer.is(me), can('orders.view')),
    create: all(signedIn, row.status.is('placed')),
    update: any(row.customer.is(me), can('orders.cancel')),
  },
  sort: ['total'],
  filter: ['status', 'customer', 'created_at'],

  async beforeWrite({ before, after, services, config }) {
    if (before?.status === 'cancelled') throw alreadyCancelled()
    if (before) return after.status === 'cancelled' ? { cancelled_at: after.updated_at } : undefined
    requireDistinct(after.items, config.orders.maxItems)
    return price(after.items, services)
  },

  /** Takes the stock of an order that is placed, and gives back that of one that was. */
  alongside({ before, after, services }) {
    const { stock } = (services as Needs).products
    const [was, is] = [before, after].map((each) => each?.status === 'placed')
    const order = after ?? before
    if (!order || was === is) return []
    // Sorted by id, so that two orders of the same products cannot deadlock.
    const items = [...order.items].sort((a, b) => a.product_id - b.product_id)
    return items.map(({ product_id, quantity, unit_price = 0 }) =>
      is ? stock.take(product_id, quantity, Math.round(unit_price * 100)) : stock.giveBack(product_id, quantity),
    )
  },

  elements: ({ services }) => [
    objectType<{ productId: number }>({
      name: 'OrderItem',
      fields: {
        productId: 'ID!',
        name: { type: 'String!', description: 'As it was called then.' },
        quantity: 'Int!',
        unitPrice: 'Float!',
        product: {
          type: 'Product',
          description: 'As it is now; null where it is gone.',
          // Called once for all items of the response.
          load: (items) => (services as Needs).products.loadFields(items.map(({ productId }) => productId)),
        },
      },
    }),
    inputType({ name: 'OrderItemInput', fields: { productId: 'Float!', quantity: 'Int!' } }),
  ],
  commands: [cancelStale],
})

function requireDistinct(items: readonly Item[], maxItems: number): void {
  if (items.length > maxItems) throw validationFailed({ items: [`Must have at most ${maxItems} items`] })
  const ids = items.map(({ product_id }) => product_id)
  const repeated = ids.flatMap((id, i) => (ids.indexOf(id) < i ? [`items.${i}.product_id`] : []))
  if (repeated.length === 0) return
  throw validationFailed(Object.fromEntries(repeated.map((path) => [path, ['Is listed before']])))
}

/** Names and prices of the moment. If they have changed when the stock is taken, or it is short by then, this is called again. */
async function price(items: readonly Item[], { products }: Needs) {
  const found = await products.stock.find(items.map(({ product_id }) => product_id))
  const byId = new Map(found.map((product) => [product.id, product]))
  const details: Record<string, string[]> = {}
  let cents = 0
  const priced = items.map((item, i) => {
    const product = byId.get(item.product_id)
    if (!product) details[`items.${i}.product_id`] = ['Is no product that can be bought']
    else if (product.stock < item.quantity) details[`items.${i}.quantity`] = [`Must be at most ${product.stock}`]
    const { name = '', price_cents = 0 } = product ?? {}
    cents += item.quantity * price_cents
    return { ...item, name, unit_price: price_cents / 100 }
  })
  if (Object.keys(details).length > 0) throw outOfStock(details)
  return { items: priced, total: cents / 100 }
}
