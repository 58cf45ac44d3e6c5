/** The tables orders and order_items. */
import type { products } from 'latchkey'
import {
  type Clock,
  type Database,
  type MaintainedCounts,
  offsetOf,
  type Paging,
  rowOf,
  type ServiceOf,
  type Statement,
} from 'latchkey/feature'

export interface OrderItem {
  product_id: number
  name: string
  quantity: number
  unit_cents: number
}

export interface Order {
  id: number
  user_id: number
  status: 'placed' | 'cancelled'
  total_cents: number
  created_at: string
  cancelled_at: string | null
  items: readonly OrderItem[]
}

export interface Wanted {
  productId: number
  quantity: number
}

export interface OrderStoreDeps {
  db: Database
  clock: Clock
  counts: MaintainedCounts
  stock: ServiceOf<typeof products>['stock']
}

type OrderRow = Omit<Order, 'items'>

const columns = 'id, user_id, status, total_cents, created_at, cancelled_at'

export function createOrderStore({ db, clock, counts, stock }: OrderStoreDeps) {
  async function withItems(rows: readonly OrderRow[]): Promise<Order[]> {
    return Promise.all(
      rows.map(async (row) => ({
        ...row,
        items: await db.all<OrderItem>(
          'SELECT product_id, name, quantity, unit_cents FROM order_items WHERE order_id = $1 ORDER BY position',
          [row.id],
        ),
      })),
    )
  }

  async function find(id: number): Promise<Order | undefined> {
    const row = await db.get<OrderRow>(`SELECT ${columns} FROM orders WHERE id = $1`, [id])
    return row && (await withItems([row]))[0]
  }

  return {
    find,

    /** Takes the stock and stores the order in one transaction. Returns undefined if a product is short. */
    async place(userId: number, wanted: readonly Wanted[]): Promise<Order | undefined> {
      // Sorted by id, so that two orders of the same products cannot deadlock.
      const sorted = [...wanted].sort((a, b) => a.productId - b.productId)
      const indexOfOrder = sorted.length
      const rows = await db.write<{ id: number }>(
        ...sorted.map(({ productId, quantity }) => stock.take(productId, quantity)),
        {
          sql: `INSERT INTO orders (user_id, status, total_cents, created_at) VALUES ($1, 'placed', 0, $2) RETURNING id`,
          params: [userId, clock.nowIso()],
        },
        ...sorted.map(({ productId, quantity }, i) => ({
          // The price of the moment in which the stock was taken, whatever the client has seen.
          sql: `INSERT INTO order_items (order_id, position, product_id, name, quantity, unit_cents)
                VALUES ($1, $2, $3, $4, $5, $6)`,
          params: [
            rowOf(indexOfOrder, 'id'),
            wanted.findIndex((each) => each.productId === productId),
            productId,
            rowOf(i, 'name'),
            quantity,
            rowOf(i, 'price_cents'),
          ],
        })),
        {
          sql: `UPDATE orders SET total_cents =
                  (SELECT sum(quantity * unit_cents) FROM order_items WHERE order_id = orders.id)
                WHERE id = $1`,
          params: [rowOf(indexOfOrder, 'id')],
        },
      )
      const id = rows[indexOfOrder]?.[0]?.id
      if (id === undefined) return undefined
      stock.notify()
      return find(id)
    },

    /** Gives the stock back. Returns undefined if the order was already cancelled, so the stock is given back only once. */
    async cancel({ id, items }: Order, entry: Statement): Promise<Order | undefined> {
      const sorted = [...items].sort((a, b) => a.product_id - b.product_id)
      const [cancelled] = await db.write(
        {
          sql: `UPDATE orders SET status = 'cancelled', cancelled_at = $1
                WHERE id = $2 AND status = 'placed' RETURNING id`,
          params: [clock.nowIso(), id],
          decides: true,
        },
        ...sorted.map(({ product_id, quantity }) => stock.giveBack(product_id, quantity)),
        entry,
      )
      if (!cancelled?.length) return undefined
      stock.notify()
      return find(id)
    },

    /** Newest first. */
    async listOwn(userId: number, page: Paging): Promise<{ orders: Order[]; total: number }> {
      const rows = await db.all<OrderRow>(
        `SELECT ${columns} FROM orders WHERE user_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`,
        [userId, page.perPage, offsetOf(page)],
      )
      const counted = await db.get<{ n: number }>('SELECT count(*) AS n FROM orders WHERE user_id = $1', [userId])
      return { orders: await withItems(rows), total: counted?.n ?? 0 }
    },

    /** Newest first. Uses the maintained count; positions are counted from the oldest. */
    async listAll(page: Paging): Promise<{ orders: Order[]; total: number }> {
      const total = await counts.total('orders')
      const end = Math.max(0, total - offsetOf(page))
      const start = Math.max(0, end - page.perPage)
      const { id, skip } = await counts.find('orders', start)
      const rows = await db.all<OrderRow>(
        `SELECT ${columns} FROM orders WHERE id >= $1 ORDER BY id LIMIT $2 OFFSET $3`,
        [id, end - start, skip],
      )
      return { orders: await withItems(rows.reverse()), total }
    },

    /** Oldest first. */
    async listStale(before: string, limit: number): Promise<Order[]> {
      const rows = await db.all<OrderRow>(
        `SELECT ${columns} FROM orders WHERE status = 'placed' AND created_at < $1 ORDER BY created_at LIMIT $2`,
        [before, limit],
      )
      return withItems(rows)
    },
  }
}

export type OrderStore = ReturnType<typeof createOrderStore>
