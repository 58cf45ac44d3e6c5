import type { Clock } from '../../core/clock.ts'
import { type Database, rowOf, type Statement } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import type { Product, ProductChange, ProductInput, ProductKey } from './product.ts'
import { type Actor, type Changed, deleting, restoring, updating } from './product-changes.store.ts'
import { briefColumns, columns, keyColumns, writtenColumns, writtenValues } from './product-columns.store.ts'

/** How long a deletion can be undone. */
const undoMs = 3_600_000

const insertText = `INSERT INTO products (created_at, updated_at, changed_by, ${writtenColumns.join(', ')})
  VALUES ($1, $1, $2, ${writtenColumns.map((_, i) => `$${i + 3}`).join(', ')}) RETURNING ${columns}`

/** A loose index scan: jumps from each category to the next without reading the products in between. At most `$1`. */
const foundCategories = `WITH RECURSIVE found (category, place) AS (
    SELECT min(category), 1 FROM products WHERE deleted_at IS NULL
    UNION ALL
    SELECT (SELECT min(p.category) FROM products p WHERE p.deleted_at IS NULL AND p.category > found.category),
           place + 1
    FROM found WHERE category IS NOT NULL AND place < $1
  )`

const categoriesText = `${foundCategories} SELECT category FROM found WHERE category IS NOT NULL ORDER BY place`

const usedCategoriesText = `${foundCategories}
  SELECT category FROM (
    SELECT category, place, (
      SELECT count(*) FROM (
        SELECT 1 AS one FROM products p WHERE p.category = found.category AND p.deleted_at IS NULL LIMIT $2
      ) AS first_ones
    ) AS used
    FROM found WHERE category IS NOT NULL
  ) AS counted ORDER BY used DESC, place LIMIT $3`

export interface IdempotencyRecord {
  body_hash: string
  product_id: number
  created_at: string
}

/** Which version is changed, null for any, and by whom. */
type Condition = Pick<Changed, 'version' | 'by'>

/** A product in the version that a user saw. */
export type Picked = Pick<Product, 'id' | 'version'>

export interface ProductStoreDeps {
  db: Database
  clock: Clock
  counts: MaintainedCounts
}

export function createProductStore(deps: ProductStoreDeps) {
  return { ...createReads(deps), ...createInsertions(deps), ...createChanges(deps) }
}

export type ProductStore = ReturnType<typeof createProductStore>

function createReads({ db, counts }: ProductStoreDeps) {
  async function readPage<Row extends object = Product>(
    before: number,
    limit: number,
    selected = columns,
  ): Promise<Row[]> {
    const { id, skip } = await counts.find('products', before)
    return db.all<Row>(
      `SELECT ${selected} FROM products WHERE deleted_at IS NULL AND id >= $1 ORDER BY id LIMIT $2 OFFSET $3`,
      [id, limit, skip],
    )
  }

  async function readCategories(sql: string, params: number[]): Promise<string[]> {
    const rows = await db.scan<{ category: string }>(sql, params)
    return rows.map(({ category }) => category)
  }

  return {
    /** In the order of the ids. Includes soft-deleted products, omits missing ones. */
    async readByIds<Row extends { id: number }>(ids: readonly number[], selected: string): Promise<Row[]> {
      const rows = await db.scan<Row>(`SELECT ${selected} FROM products WHERE ${idIsListed(db)}`, [toIdList(db, ids)])
      const byId = new Map(rows.map((row) => [row.id, row]))
      return ids.flatMap((id) => byId.get(id) ?? [])
    },

    find: (id: number) => db.get<Product>(`SELECT ${columns} FROM products WHERE id = $1 AND deleted_at IS NULL`, [id]),

    /** Does not read the description, which may be a megabyte. */
    findKey: (id: number) =>
      db.get<ProductKey>(`SELECT ${keyColumns} FROM products WHERE id = $1 AND deleted_at IS NULL`, [id]),

    /** By id ascending, active or not. */
    async list<Row extends object = Product>(
      { before, limit }: { before: number; limit: number },
      selected = columns,
    ): Promise<{ products: Row[]; total: number }> {
      const [total, products] = await Promise.all([counts.total('products'), readPage<Row>(before, limit, selected)])
      return { products, total }
    },

    /** Newest first, without descriptions. Positions are counted from the oldest. */
    async listNewest(page: { before: number; limit: number }): Promise<{ products: Product[]; total: number }> {
      const total = await counts.total('products')
      const end = Math.max(0, total - page.before)
      const start = Math.max(0, end - page.limit)
      const products = end === start ? [] : await readPage(start, end - start, briefColumns)
      return { products: products.reverse(), total }
    },

    /** Active products, in the order of names. */
    listByCategory: (category: string, limit: number, selected: string) =>
      db.scan<Product>(
        `SELECT ${selected} FROM products
         WHERE category = $1 AND active = TRUE AND deleted_at IS NULL ORDER BY name_key, id LIMIT $2`,
        [category, limit],
      ),

    /** By name. */
    listCategories: (limit: number) => readCategories(categoriesText, [limit]),

    /**
     * The most used ones first, as far as looking at `looked` categories and counting to `counted` in each tells: what it
     * reads is bounded, however many products there are.
     */
    listUsedCategories: ({ limit, looked, counted }: { limit: number; looked: number; counted: number }) =>
      readCategories(usedCategoriesText, [looked, counted, limit]),
  }
}

function createInsertions({ db, clock }: ProductStoreDeps) {
  return {
    async insert(input: ProductInput, by: Actor): Promise<Product> {
      const [[product]] = await db.write<Product>({ ...insertion(input, by, clock.nowIso()), insertsOne: true })
      return product as Product
    },

    /** Consumes the key, then inserts the product. Returns undefined if the key was used before. */
    async insertOnce(
      input: ProductInput,
      { id, bodyHash, expiresAt, by }: { id: string; bodyHash: string; expiresAt: number; by: Actor },
    ): Promise<Product | undefined> {
      const now = clock.nowIso()
      const [, made] = await db.write<object>(
        {
          sql: `INSERT INTO idempotency_keys (id, body_hash, created_at, expires_at) VALUES ($1, $2, $3, $4)
                ON CONFLICT (id) DO UPDATE
                SET body_hash = excluded.body_hash, created_at = excluded.created_at, expires_at = excluded.expires_at
                WHERE idempotency_keys.expires_at <= $5 RETURNING id`,
          params: [id, bodyHash, now, expiresAt, clock.nowSeconds()],
          decides: true,
        },
        insertion(input, by, now),
        { sql: 'UPDATE idempotency_keys SET product_id = $1 WHERE id = $2', params: [rowOf(1, 'id'), id] },
      )
      return made?.[0] as Product | undefined
    },

    findIdempotent: (id: string) =>
      db.get<IdempotencyRecord>('SELECT body_hash, product_id, created_at FROM idempotency_keys WHERE id = $1', [id]),
  }
}

function createChanges({ db, clock }: ProductStoreDeps) {
  const undoableSince = () => new Date(clock.now() - undoMs).toISOString()

  /** In the order of the ids, so that two of them cannot deadlock. */
  async function writeMany<Each extends { id: number }>(
    picked: readonly Each[],
    toStatement: (each: Each, now: string) => Statement,
  ): Promise<Set<number>> {
    if (picked.length === 0) return new Set()
    const now = clock.nowIso()
    const statements = picked.toSorted((one, other) => one.id - other.id).map((each) => toStatement(each, now))
    const rows = await db.write<{ id: number }>(...statements)
    return new Set(rows.flat().map(({ id }) => id))
  }

  return {
    /** Returns undefined if there is no such product, or not of that version. */
    async update(id: number, change: ProductChange, condition: Condition): Promise<Product | undefined> {
      const [[product]] = await db.write<Product>(updating({ id, ...condition, now: clock.nowIso() }, change, 'all'))
      return product
    },

    /** Soft delete. Returns whether there was a product of that version. */
    async delete(id: number, condition: Condition): Promise<boolean> {
      const [rows] = await db.write(deleting({ id, ...condition, now: clock.nowIso() }))
      return rows.length > 0
    },

    /** Returns undefined if it was deleted too long ago for `restore`. */
    findDeleted: (id: number) =>
      db.get<Pick<Product, 'id' | 'name'>>('SELECT id, name FROM products WHERE id = $1 AND deleted_at > $2', [
        id,
        undoableSince(),
      ]),

    /** Undoes a deletion. Returns undefined if there is none, or if it is too long ago. */
    async restore(id: number, by: Actor): Promise<Product | undefined> {
      const [[product]] = await db.write<Product>(restoring({ id, by, now: clock.nowIso() }, undoableSince(), 'all'))
      return product
    },

    /** Without descriptions, those that are not deleted, by id. */
    readPicked: (ids: readonly number[]) =>
      db.scan<Product>(
        `SELECT ${briefColumns} FROM products WHERE ${idIsListed(db)} AND deleted_at IS NULL ORDER BY id`,
        [toIdList(db, ids)],
      ),

    /** One transaction. Each product is changed only if it has that version. Returns the ids of those that were. */
    updateMany: (picked: readonly (Picked & { change: ProductChange })[], by: Actor) =>
      writeMany(picked, (each, now) => updating({ ...each, by, now }, each.change, 'id')),
    deleteMany: (picked: readonly Picked[], by: Actor) =>
      writeMany(picked, (each, now) => deleting({ ...each, by, now })),
    restoreMany: (picked: readonly Pick<Picked, 'id'>[], by: Actor) =>
      writeMany(picked, ({ id }, now) => restoring({ id, by, now }, undoableSince(), 'id')),
  }
}

function insertion(input: ProductInput, by: Actor, now: string): Statement {
  return { sql: insertText, params: [now, by, ...writtenValues({ ...input, active: true })] }
}
