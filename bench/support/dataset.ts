/** Generates millions of products deterministically, with rare terms, a rare category and one common term. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { root } from '../../src/config/root.ts'
import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import { insertMany, rowsPerWrite } from '../../src/features/products/bulk.store.ts'
import type { ProductValues } from '../../src/features/products/product.ts'
import { columns } from '../../src/features/products/product-columns.store.ts'
import type { Database, Statement } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { runOnServer } from '../../src/testing/databases.ts'
import { ownMigrations } from '../../test/support/migrations.ts'
import { sampleRow } from '../../test/support/products.ts'
import { fillWithoutIndexes, showProgress } from './bulk-fill.ts'

/** Each of these matches 50 products, except `common`, which matches 7 in 100. */
export const finds = { rare: 'qzx', short: 'jq', common: 'deluxe', category: 'rarities' } as const

const rareCount = 50
const statementsAtOnce = 20

export interface Dataset {
  url: string
  remove(): void
}

/** Creates a SQLite file with `count` products. */
export async function createSqliteDataset(count: number, fillIt = fill): Promise<Dataset> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const url = `file:${join(folder, 'products.db')}`
  await fillIt(url, count)
  return { url, remove: () => rmSync(folder, { recursive: true }) }
}

let databases = 0

/** Creates an empty database on a PostgreSQL server. */
export async function createPostgresDatabase(server: string): Promise<string> {
  databases += 1
  const name = `bench_${databases}`
  await runOnServer(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = name
  return url.href
}

const types: Readonly<Record<string, string>> = {
  price_cents: 'INTEGER',
  active: 'BOOLEAN',
  stock: 'INTEGER',
  version: 'INTEGER',
}
const plainColumns = columns
  .split(', ')
  .filter((name) => name !== 'id')
  .map((name) => `${name} ${types[name] ?? 'TEXT'} NOT NULL`)
  .join(', ')

/** The same products in the table of the specification: its columns and its two indexes, nothing else. */
export function createPlainCopy(dataset: Dataset): string {
  const path = dataset.url.replace('file:', '').replace('products.db', 'plain.db')
  const db = new DatabaseSync(path)
  db.exec(`
    PRAGMA journal_mode = WAL;
    ATTACH '${dataset.url.replace('file:', '')}' AS full;
    CREATE TABLE products (id INTEGER PRIMARY KEY AUTOINCREMENT, ${plainColumns}, deleted_at TEXT);
    INSERT INTO products SELECT ${columns}, deleted_at FROM full.products;
    CREATE INDEX products_slug ON products (slug);
    CREATE INDEX products_category_active ON products (category, active);`)
  db.close()
  return path
}

export async function fill(url: string, count: number): Promise<void> {
  const db = await openDataset(url)
  try {
    await fillWithoutIndexes(db, 'products', () => insertProducts(db, count))
  } finally {
    await db.close()
  }
}

async function insertProducts(db: Database, count: number): Promise<void> {
  for (let first = 1; first <= count; ) {
    const statements: Statement[] = []
    while (statements.length < statementsAtOnce && first <= count) {
      const rows = Math.min(rowsPerWrite, count - first + 1)
      const products = Array.from({ length: rows }, (_, i) => productAt(first + i, count))
      statements.push(insertMany(db.dialect, products, '2026-01-01T00:00:00.000Z'))
      first += rows
    }
    await db.write(...statements)
    showProgress('products', first - 1, count)
  }
}

/** Fills the change log with creations of products that are not in the table, which takes seconds for a million. */
export async function fillLog(url: string, count: number): Promise<void> {
  const db = await openDataset(url)
  try {
    await db.write({
      sql: `INSERT INTO changes (topic, type, entity_id, at, data)
            WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < $1)
            SELECT 'products', 'product.created', i, $2, '{"id":' || i || ',"name":"Product ' || i || '","slug":"product-' || i ||
              '","description":"A product to try things at scale, with a description of a usual length.","price_cents":1999,' ||
              '"category":"general","active":true,"stock":3,"version":1,"created_at":"2026-01-01T00:00:00.000Z",' ||
              '"updated_at":"2026-01-01T00:00:00.000Z"}' FROM numbers`,
      params: [count, systemClock.nowIso()],
    })
    if (db.dialect === 'postgres') await db.write({ sql: 'VACUUM ANALYZE changes' })
  } finally {
    await db.close()
  }
}

export async function openDataset(url: string): Promise<Database> {
  const { db } = await openDatabase({
    url,
    poolSize: 4,
    statementTimeoutSeconds: 600,
    root,
    migrations: ownMigrations,
    clock: systemClock,
    random: systemRandom,
  })
  return db
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

function productAt(i: number, count: number): ProductValues {
  // Multiplying by a prime spreads rare and common terms over all names and ids.
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
  return { ...sampleRow, name, description, price_cents: 100 + (mixed % 100_000), category, stock: mixed % 50 }
}
