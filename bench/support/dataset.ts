/** Products by the million, the same every time: with terms and a category that are rare, and one term that is common. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'
import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import { toNameKey, toSlug } from '../../src/features/products/product.ts'
import type { Database, Statement } from '../../src/platform/database/database.ts'
import { foldCounts } from '../../src/platform/database/kept-counts.ts'
import { openDatabase } from '../../src/platform/database/open.ts'

/** Each of these finds 50 products, but `common`, which finds 7 in 100. */
export const finds = { rare: 'qzx', short: 'jq', common: 'deluxe', category: 'rarities' } as const

const rareCount = 50
const rowsPerStatement = 200
const statementsAtOnce = 20

export interface Dataset {
  url: string
  count: number
  remove(): void
}

/** A SQLite file with so many products. */
export async function createSqliteDataset(count: number): Promise<Dataset> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const url = `file:${join(folder, 'products.db')}`
  await fill(url, count)
  return { url, count, remove: () => rmSync(folder, { recursive: true }) }
}

export async function fill(url: string, count: number): Promise<void> {
  const db = await open(url)
  try {
    for (let first = 1; first <= count; ) {
      const statements: Statement[] = []
      while (statements.length < statementsAtOnce && first <= count) {
        statements.push(insertion(first, Math.min(rowsPerStatement, count - first + 1), count))
        first += rowsPerStatement
      }
      await db.write(...statements)
      process.stderr.write(
        `\r  filling ${Math.min(first - 1, count).toLocaleString('en')} of ${count.toLocaleString('en')} products `,
      )
    }
    process.stderr.write('\r\u001b[K')
    await foldCounts(db)
    if (db.dialect === 'postgres') await db.write({ sql: 'VACUUM ANALYZE products' })
  } finally {
    await db.close()
  }
}

async function open(url: string): Promise<Database> {
  const { db } = await openDatabase({
    url,
    poolSize: 4,
    statementTimeoutSeconds: 600,
    root,
    migrations: join(root, 'migrations'),
    clock: systemClock,
    random: systemRandom,
  })
  return db
}

function insertion(first: number, rows: number, count: number): Statement {
  const time = "'2026-01-01T00:00:00.000Z'"
  const places = (row: number) => Array.from({ length: 7 }, (_, i) => `$${row * 7 + i + 1}`).join(', ')
  const values = Array.from({ length: rows }, (_, row) => `(${places(row)}, ${time}, ${time})`)
  return {
    sql: `INSERT INTO products
            (name, name_key, slug, description, price_cents, category, stock, created_at, updated_at)
          VALUES ${values.join(', ')}`,
    params: Array.from({ length: rows }, (_, row) => fieldsOf(first + row, count)).flat(),
  }
}

const adjectives = [
  'Amber',
  'Brave',
  'Calm',
  'Dark',
  'Eager',
  'Fine',
  'Grand',
  'Happy',
  'Iron',
  'Light',
  'Modern',
  'Noble',
]
const nouns = [
  'Anvil',
  'Bottle',
  'Chair',
  'Desk',
  'Engine',
  'Fork',
  'Garden',
  'Hammer',
  'Lamp',
  'Mirror',
  'Notebook',
  'Oven',
]

function fieldsOf(i: number, count: number): (string | number)[] {
  // Multiplied by a prime, so that what is rare or common lies all over the names and the ids.
  const mixed = (i * 7919) % 1_000_003
  const step = Math.floor(count / rareCount)
  const isRare = (offset: number) => i % step === offset
  const name = [
    adjectives[mixed % adjectives.length],
    nouns[Math.floor(mixed / 12) % nouns.length],
    String(mixed),
    ...(mixed % 100 < 7 ? ['Deluxe'] : []),
    ...(isRare(0) ? ['Qzx'] : []),
    ...(isRare(1) ? ['JQ'] : []),
  ].join(' ')
  const description = `A product to try things at scale, number ${i}, with a description of a usual length.`
  const category = isRare(2) ? finds.category : `category ${mixed % 40}`
  return [name, toNameKey(name), toSlug(name), description, 100 + (mixed % 100_000), category, mixed % 50]
}
