import type { Database } from '../../platform/database/database.ts'
import type { Product } from './product.ts'
import type { NameIndex, Term } from './products.search.ts'
import { columns as all } from './products.store.ts'

/** About so many names are looked at to tell how common a term is. */
const sampled = 1000

export function createPostgresNameIndex(db: Database, columns = all): NameIndex {
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

    alongNames: (term, limit) =>
      // First the ids: for those the index is enough, and most of the rows are never looked at.
      db.scan<Product>(
        `WITH found AS MATERIALIZED (
           SELECT id AS found_id, name_key AS found_key FROM products
           WHERE active = TRUE AND deleted_at IS NULL AND strpos(name_key, $1) > 0 ORDER BY name_key, id LIMIT $2
         )
         SELECT ${columns} FROM found JOIN products ON id = found_id ORDER BY found_key, found_id`,
        [term.text, limit],
      ),

    alongCategory: (term, limit, category) =>
      db.scan<Product>(
        `WITH found AS MATERIALIZED (
           SELECT id AS found_id, name_key AS found_key FROM products
           WHERE category = $3 AND active = TRUE AND deleted_at IS NULL AND strpos(name_key, $1) > 0
           ORDER BY name_key, id LIMIT $2
         )
         SELECT ${columns} FROM found JOIN products ON id = found_id ORDER BY found_key, found_id`,
        [term.text, limit, category],
      ),
  }
}

function matching({ grams, isShort }: Term): string {
  return grams
    .map((gram) => `'${gram.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isShort ? ':*' : ''}`)
    .join(' & ')
}
