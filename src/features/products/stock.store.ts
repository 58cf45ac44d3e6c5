/** Stock that other features take and give back, in batches of their own: both happen with what they are for, or neither. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Product } from './product.ts'

export type StockedProduct = Pick<Product, 'id' | 'name' | 'price_cents' | 'stock'>

export function createStockStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** Those of the products that can be bought. */
    find: (ids: readonly number[]): Promise<StockedProduct[]> =>
      db.all<StockedProduct>(
        `SELECT id, name, price_cents, stock FROM products
         WHERE ${idIsListed(db)} AND active = TRUE AND deleted_at IS NULL`,
        [toIdList(db, ids)],
      ),

    /**
     * Returns `id`, `name` and `price_cents`. Decides: only where the product can be bought and there is enough of it.
     * Take several in the order of their ids, so that two batches never wait for each other.
     */
    take: (id: number, quantity: number): Statement => ({
      sql: `UPDATE products SET stock = stock - $2, version = version + 1, updated_at = $3
            WHERE id = $1 AND stock >= $2 AND active = TRUE AND deleted_at IS NULL RETURNING id, name, price_cents`,
      params: [id, quantity, clock.nowIso()],
      decides: true,
    }),

    /** Also to a product that was deleted meanwhile: it may be restored. */
    giveBack: (id: number, quantity: number): Statement => ({
      sql: 'UPDATE products SET stock = stock + $2, version = version + 1, updated_at = $3 WHERE id = $1',
      params: [id, quantity, clock.nowIso()],
    }),
  }
}
