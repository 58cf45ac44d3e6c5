/** A typical hand-written server: Express 5, a plain table with the same products, the same queries, and COUNT(*). */
import { DatabaseSync } from 'node:sqlite'
import express from 'express'
import type { Product } from '../../src/features/products/product.ts'
import { columns } from '../../src/features/products/product-columns.store.ts'
import { toResource } from '../../src/features/products/product-resource.ts'

const db = new DatabaseSync(process.env.DATABASE_FILE ?? '', { readOnly: true })
const one = db.prepare(`SELECT ${columns} FROM products WHERE id = ? AND deleted_at IS NULL`)
const page = db.prepare(`SELECT ${columns} FROM products WHERE deleted_at IS NULL ORDER BY id LIMIT ? OFFSET ?`)
const count = db.prepare('SELECT COUNT(*) AS total FROM products WHERE deleted_at IS NULL')
// node:sqlite returns untyped rows.
const toProduct = (row: unknown) => ({ ...(row as Product), active: Boolean((row as Product).active) })

const app = express()
app.get('/api/v2/products/:id', (request, response) => {
  const row = one.get(Number(request.params.id))
  if (!row) response.status(404).json({ error: 'Product not found' })
  else response.json({ data: toResource(toProduct(row)) })
})
app.get('/api/v2/products', (_request, response) => {
  const { total } = count.get() as { total: number }
  const data = page.all(20, 0).map((row) => toResource(toProduct(row)))
  response.json({ data, meta: { total, page: 1, per_page: 20, last_page: Math.ceil(total / 20) } })
})
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
