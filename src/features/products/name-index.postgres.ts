import type { Database } from '../../platform/database/database.ts'
import type { Product } from './product.ts'
import type { NameIndex, Term } from './products.search.ts'
import { columns as all } from './products.store.ts'

/** About so many names are looked at to tell how common a term is. */
const sampled = 1000

/** The server reads and writes so many products in a millisecond. */
const rowsPerPart = 200

export function createPostgresNameIndex(db: Database, columns = all): NameIndex {
  /**
   * In their order, some at a time: where the server has few cores, others get their turn in between. What has gone in
   * the meantime is left out.
   */
  async function readInParts(found: readonly { id: number }[]): Promise<Product[]> {
    const products: Product[] = []
    for (let start = 0; start < found.length; start += rowsPerPart) {
      const ids = found.slice(start, start + rowsPerPart).map(({ id }) => id)
      const part = await db.scan<Product>(
        `SELECT ${columns} FROM unnest(CAST($1 AS BIGINT[])) WITH ORDINALITY AS found (found_id, place)
         JOIN products ON id = found_id
         WHERE active = TRUE AND deleted_at IS NULL ORDER BY place`,
        [`{${ids.join()}}`],
      )
      products.push(...part)
    }
    return products
  }

  return {
    async estimate({ text }, { total }) {
      const [row] = await db.scan<{ seen: number; found: number }>(
        `SELECT count(*) AS seen, count(*) FILTER (WHERE strpos(name_key, $1) > 0) AS found
         FROM products TABLESAMPLE SYSTEM ($2)`,
        [text, Math.min(100, (100 * sampled) / Math.max(1, total))],
      )
      return row && row.seen > 0 ? (total * row.found) / row.seen : 0
    },

    byGrams: (term, limit, category) =>
      // The index alone decides inside: with more to choose from, the planner may walk along the names and make the
      // grams of every one of them.
      db.scan<Product>(
        `WITH found AS MATERIALIZED (
           SELECT ${columns}, name_key, deleted_at FROM products WHERE name_grams(name_key) @@ CAST($3 AS tsquery)
         )
         SELECT ${columns} FROM found
         WHERE active = TRUE AND deleted_at IS NULL AND strpos(name_key, $1) > 0
           AND category = COALESCE(CAST($4 AS TEXT), category)
         ORDER BY name_key, id LIMIT $2`,
        [term.text, limit, matching(term), category ?? null],
      ),

    // First the ids: for those the index is enough, and most of the rows are never looked at.
    alongNames: async (term, limit) =>
      readInParts(
        await db.scan<{ id: number }>(
          `SELECT id FROM products
           WHERE active = TRUE AND deleted_at IS NULL AND strpos(name_key, $1) > 0 ORDER BY name_key, id LIMIT $2`,
          [term.text, limit],
        ),
      ),

    alongCategory: async (term, limit, category) =>
      readInParts(
        await db.scan<{ id: number }>(
          `SELECT id FROM products
           WHERE category = $3 AND active = TRUE AND deleted_at IS NULL AND strpos(name_key, $1) > 0
           ORDER BY name_key, id LIMIT $2`,
          [term.text, limit, category],
        ),
      ),
  }
}

function matching({ grams, isShort }: Term): string {
  return grams
    .map((gram) => `'${gram.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isShort ? ':*' : ''}`)
    .join(' & ')
}
