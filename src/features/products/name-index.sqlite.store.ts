import type { Database } from '../../platform/database/database.ts'
import type { Params } from '../../platform/listing/list-params.ts'
import type { Product } from './product.ts'
import { columns as all } from './product-columns.store.ts'
import type { NameIndex, Term } from './products.search.ts'

/** Hits come in order of ids. From the highest id among so many, the total is extrapolated, assuming an even spread. */
const sampled = 500

/** Of active products and of inactive ones. */
const gramTables = ['product_grams', 'inactive_product_grams']
const gramRowTables = ['product_gram_rows', 'inactive_product_gram_rows']

export function createSqliteNameIndex(db: Database, columns = all): NameIndex {
  return {
    async estimate(term, { total, enough }) {
      if (term.isShort) {
        // A short term is a prefix of many grams, whose hits are not in order of ids. So they are counted, up to a bound.
        const [row] = await db.scan<{ found: number }>(
          'SELECT count(*) AS found FROM (SELECT 1 FROM product_gram_rows WHERE term >= $1 AND term <= $2 LIMIT $3)',
          [...rangeOf(term), enough + 1],
        )
        return row?.found ?? 0
      }
      // A name with all grams need not contain the term, so the names are checked.
      const [row] = await db.scan<{ found: number; reached: number; last: number }>(
        `SELECT count(CASE WHEN instr(name_key, $2) > 0 THEN 1 END) AS found, COALESCE(max(id), 1) AS reached,
                (SELECT max(id) FROM products) AS last
         FROM products WHERE id IN (SELECT rowid FROM product_grams WHERE product_grams MATCH $1 LIMIT ${sampled})`,
        [matching(term), term.text],
      )
      return row ? (row.found * Math.max(total, row.last)) / row.reached : 0
    },

    byGrams: (term, limit, category) =>
      db.scan<Product>(
        `SELECT ${columns} FROM products p
         WHERE p.id IN (${
           term.isShort
             ? 'SELECT doc FROM product_gram_rows WHERE term >= $4 AND term <= $5'
             : 'SELECT rowid FROM product_grams WHERE product_grams MATCH $4'
         }) AND instr(p.name_key, $1) > 0 AND p.category = COALESCE($3, p.category)
         ORDER BY p.name_key, p.id LIMIT $2`,
        [term.text, limit, category ?? null, ...(term.isShort ? rangeOf(term) : [matching(term)])],
      ),

    alongNames: (term, limit) =>
      db.scan<Product>(
        `SELECT ${columns} FROM products
         WHERE active = TRUE AND deleted_at IS NULL AND instr(name_key, $1) > 0 ORDER BY name_key, id LIMIT $2`,
        [term.text, limit],
      ),

    alongCategory: (term, limit, category) =>
      db.scan<Product>(
        `SELECT ${columns} FROM products
         WHERE category = $3 AND active = TRUE AND deleted_at IS NULL AND instr(name_key, $1) > 0
         ORDER BY name_key, id LIMIT $2`,
        [term.text, limit, category],
      ),

    // The look-up ends with its limit.
    isCommon: async () => false,

    writeCondition(term, params, most) {
      const found = term.isShort ? writeRange(params, rangeOf(term)) : writeMatch(params, matching(term))
      return `id IN (${found} LIMIT ${params.add(most)})`
    },
  }
}

function writeMatch(params: Params, match: string): string {
  const pattern = params.add(match)
  return gramTables.map((table) => `SELECT rowid FROM ${table} WHERE ${table} MATCH ${pattern}`).join(' UNION ALL ')
}

/** Distinct, because a name may have several grams that start with the term. UNION would read all of them before its limit. */
function writeRange(params: Params, [first, last]: [string, string]): string {
  const [low, high] = [params.add(first), params.add(last)]
  const found = gramRowTables.map((table) => `SELECT doc FROM ${table} WHERE term >= ${low} AND term <= ${high}`)
  return `SELECT DISTINCT doc FROM (${found.join(' UNION ALL ')})`
}

/** The range of all grams that start with the term. */
function rangeOf({ text }: Term): [string, string] {
  // The index stores these two noncharacters as U+FFFD.
  const kept = text.replace(/[\ufffe\uffff]/g, '\ufffd')
  return [kept, `${kept}\u{10ffff}\u{10ffff}`]
}

function matching({ grams }: Term): string {
  return grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND ')
}
