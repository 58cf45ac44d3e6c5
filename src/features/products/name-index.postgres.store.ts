import { serviceUnavailable } from '../../core/app-error.ts'
import { type Database, maxResultBytes } from '../../platform/database/database.ts'
import { type Product, toNameKey } from './product.ts'
import { columns as all, keyColumns } from './product-columns.store.ts'
import type { NameIndex, Term } from './products.search.ts'

/** Approximate sample size for estimating how common a term is. */
const sampled = 1000

/** All matches are read from the gram index before the first of them is. So many take some milliseconds. */
const common = 10_000

/** Takes the server about a millisecond. */
const rowsPerPart = 200

interface Found {
  found_id: number
  found_key: string
}

export function createPostgresNameIndex(db: Database, columns = all): NameIndex {
  /** Walks the index of names, of one category or of all. */
  async function along({ text }: Term, limit: number, category?: string): Promise<Product[]> {
    const params = category === undefined ? [text, limit] : [text, limit, category]
    // Ids first: an index-only scan, so most rows are never read.
    const walk = `SELECT id AS found_id, name_key AS found_key FROM products
      WHERE ${category === undefined ? '' : 'category = $3 AND '}active = TRUE AND deleted_at IS NULL
        AND strpos(name_key, $1) > 0
      ORDER BY name_key, id LIMIT $2`
    // Keys are short and may be millions, so they are read with one query.
    const products =
      columns === keyColumns ? undefined : await readInParts(await db.scan<Found>(walk, params), category)
    // If products have changed between the two queries, fall back to one query.
    return (
      products ??
      db.scan<Product>(
        `WITH found AS MATERIALIZED (${walk})
         SELECT ${columns} FROM found JOIN products ON id = found_id ORDER BY found_key, found_id`,
        params,
      )
    )
  }

  /**
   * Reads the products in order, in parts, so that a server with few cores can run other queries in between. Returns
   * undefined if products have changed since they were found.
   */
  async function readInParts(found: readonly Found[], category?: string): Promise<Product[] | undefined> {
    const products: Product[] = []
    let characters = 0
    for (let start = 0; start < found.length; start += rowsPerPart) {
      const wanted = found.slice(start, start + rowsPerPart)
      const part = await db.scan<Product>(
        `SELECT ${columns} FROM unnest(CAST($1 AS BIGINT[])) WITH ORDINALITY AS wanted (wanted_id, place)
         JOIN products ON id = wanted_id
         WHERE active = TRUE AND deleted_at IS NULL ORDER BY place`,
        [`{${wanted.map(({ found_id }) => found_id).join()}}`],
      )
      const isAsFound = (product: Product, i: number) =>
        toNameKey(product.name) === wanted[i]?.found_key && (category ?? product.category) === product.category
      if (part.length < wanted.length || !part.every(isAsFound)) return undefined
      for (const product of part) characters += product.description?.length ?? 0
      if (characters > maxResultBytes) throw serviceUnavailable(new Error('a search found too much'))
      products.push(...part)
    }
    return products
  }

  const estimate: NameIndex['estimate'] = async ({ text }, { total }) => {
    const [row] = await db.scan<{ seen: number; found: number }>(
      `SELECT count(*) AS seen, count(*) FILTER (WHERE strpos(name_key, $1) > 0) AS found
       FROM products TABLESAMPLE SYSTEM ($2)`,
      [text, Math.min(100, (100 * sampled) / Math.max(1, total))],
    )
    return row && row.seen > 0 ? (total * row.found) / row.seen : 0
  }

  return {
    estimate,

    byGrams: (term, limit, category) =>
      // Materialised, so that the planner must use the gram index. Otherwise it may walk the names and compute the grams
      // of each.
      db.scan<Product>(
        `WITH found AS MATERIALIZED (
           SELECT ${all}, name_key, deleted_at FROM products WHERE name_grams(name_key) @@ CAST($3 AS tsquery)
         )
         SELECT ${columns} FROM found
         WHERE active = TRUE AND deleted_at IS NULL AND strpos(name_key, $1) > 0
           AND category = COALESCE(CAST($4 AS TEXT), category)
         ORDER BY name_key, id LIMIT $2`,
        [term.text, limit, matching(term), category ?? null],
      ),

    alongNames: (term, limit) => along(term, limit),
    alongCategory: along,

    isCommon: async (term, total) => (await estimate(term, { total, enough: common })) > common,

    writeCondition: (term, params) => `name_grams(name_key) @@ CAST(${params.add(matching(term))} AS tsquery)`,
  }
}

function matching({ grams, isShort }: Term): string {
  return grams
    .map((gram) => `'${gram.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isShort ? ':*' : ''}`)
    .join(' & ')
}
