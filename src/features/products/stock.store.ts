/** Statements for other features to take stock and give it back, in the same transaction as their own changes. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Product } from './product.ts'

export type StockedProduct = Pick<Product, 'id' | 'name' | 'price_cents' | 'stock'>

export function createStockStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** Returns only active products that are not deleted. */
    find: (ids: readonly number[]): Promise<StockedProduct[]> =>
      db.all<StockedProduct>(
        `SELECT id, name, price_cents, stock FROM products
         WHERE ${idIsListed(db)} AND active = TRUE AND deleted_at IS NULL`,
        [toIdList(db, ids)],
      ),

    /**
     * Returns `id`, `name` and `price_cents`. Deciding statement: fails if the product cannot be bought or is short, or costs
     * something else than `priceCents`. Take several products in the order of their ids, so that two batches cannot deadlock.
     */
    take: (id: number, quantity: number, priceCents?: number): Statement => ({
      sql: `UPDATE products SET stock = stock - $2, version = version + 1, updated_at = $3, changed_by = NULL
            WHERE id = $1 AND stock >= $2 AND active = TRUE AND deleted_at IS NULL
              ${priceCents === undefined ? '' : 'AND price_cents = $4'} RETURNING id, name, price_cents`,
      params: [id, quantity, clock.nowIso(), ...(priceCents === undefined ? [] : [priceCents])],
      decides: true,
    }),

    /** Works for a deleted product too, because it may be restored. */
    giveBack: (id: number, quantity: number): Statement => ({
      sql: `UPDATE products SET stock = stock + $2, version = version + 1, updated_at = $3, changed_by = NULL
            WHERE id = $1`,
      params: [id, quantity, clock.nowIso()],
    }),
  }
}
