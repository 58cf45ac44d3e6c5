/**
 * A minimal program with the statements of bench/rivals.ts on the same tables: a category by price with its total, and a
 * durable create. Over node:sqlite, reads run on the event loop and each create is a commit in a worker; over pg, both are
 * named statements of a pool.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import pg from 'pg'
import type { Product } from '../../src/features/products/product.ts'
import { columns, writtenColumns, writtenValues } from '../../src/features/products/product-columns.store.ts'
import { toResource } from '../../src/features/products/product-resource.ts'
import { toInput } from '../../src/features/products/products.schema.ts'
import { parserOf } from '../../src/platform/database/postgres/types.ts'

const url = process.env.DATABASE_URL ?? ''
const perPage = 20
const condition = 'category = $1 AND deleted_at IS NULL'
const texts = {
  page: `SELECT ${columns} FROM products WHERE ${condition} ORDER BY price_cents DESC, id DESC LIMIT ${perPage}`,
  count: `SELECT count(*) AS total FROM products WHERE ${condition}`,
  insert: `INSERT INTO products (created_at, updated_at, ${writtenColumns.join(', ')})
    VALUES ($1, $1, ${writtenColumns.map((_, i) => `$${i + 2}`).join(', ')}) RETURNING ${columns}`,
}

interface Store {
  list(category: string): Promise<{ products: Product[]; total: number }>
  insert(values: unknown[]): Promise<Product>
}

if (isMainThread) serve(url.startsWith('file:') ? createSqliteStore() : createPostgresStore())
else writeInWorker()

function createSqliteStore(): Store {
  const db = openFile()
  const [page, count] = [db.prepare(toSqlite(texts.page)), db.prepare(toSqlite(texts.count))]
  const worker = new Worker(import.meta.filename)
  const waiting: ((product: Product) => void)[] = []
  worker.on('message', (product: Product) => waiting.shift()?.(product))
  return {
    async list(category) {
      const products = page.all(category) as unknown as Product[]
      const { total } = count.get(category) as { total: number }
      return { products, total }
    },
    insert: (values) =>
      new Promise((resolve) => {
        waiting.push(resolve)
        worker.postMessage(values.map((value) => (typeof value === 'boolean' ? Number(value) : value)))
      }),
  }
}

function writeInWorker(): void {
  const insert = openFile().prepare(toSqlite(texts.insert))
  parentPort?.on('message', (values: string[]) => parentPort?.postMessage(insert.get(...values)))
}

function openFile(): DatabaseSync {
  const db = new DatabaseSync(url.replace('file:', ''), { timeout: 5000 })
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  return db
}

function toSqlite(text: string): string {
  return text.replaceAll('$', '?')
}

function createPostgresStore(): Store {
  const pool = new pg.Pool({ connectionString: url, max: 10, types: { getTypeParser: parserOf } })
  const ask = async <Row extends object>(name: keyof typeof texts, values: unknown[]) =>
    (await pool.query<Row>({ name, text: texts[name], values })).rows
  return {
    async list(category) {
      const [products, [counted]] = await Promise.all([
        ask<Product>('page', [category]),
        ask<{ total: number }>('count', [category]),
      ])
      return { products, total: counted?.total ?? 0 }
    },
    insert: async (values) => (await ask<Product>('insert', values))[0] as Product,
  }
}

function serve({ list, insert }: Store): void {
  const server = createServer(async (request, response) => {
    const send = (status: number, body: object) => {
      const text = JSON.stringify(body)
      const type = 'application/json; charset=utf-8'
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
    }
    if (request.method === 'POST') {
      const input = toInput(JSON.parse(await bodyOf(request)))
      const product = await insert([new Date().toISOString(), ...writtenValues({ ...input, active: true })])
      return send(201, { data: toResource(product) })
    }
    const category = new URL(request.url ?? '', 'http://localhost').searchParams.get('filter[category]') ?? ''
    const { products, total } = await list(category)
    send(200, { data: products.map(toResource), meta: { total, per_page: perPage } })
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number }
    process.stdout.write(`http://127.0.0.1:${port}\n`)
  })
  process.once('SIGTERM', () => process.exit(0))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  request.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await once(request, 'end')
  return text
}
