/** The service with one more route: a durable create with a commit of its own, on the event loop. */
import { DatabaseSync } from 'node:sqlite'
import { type Product, toNameKey, toResource, toSlug } from '../../src/features/products/product.ts'
import { NewProduct, OneProduct, toInput } from '../../src/features/products/products.schema.ts'
import { columns } from '../../src/features/products/products.store.ts'
import { serve } from '../support/serve.ts'

await serve((http) => {
  // The service may still be writing earlier requests.
  const db = new DatabaseSync((process.env.DATABASE_URL ?? '').replace(/^file:/, ''), { timeout: 5000 })
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const insert = db.prepare(
    `INSERT INTO products (name, name_key, slug, description, price_cents, category, stock, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
  )
  http.post(
    '/one-commit',
    { config: { access: 'authenticated' }, schema: { body: NewProduct, response: { 201: OneProduct } } },
    async (request, reply) => {
      const { name, description, price_cents, category, stock } = toInput(request.body)
      const now = new Date().toISOString()
      const values = [name, toNameKey(name), toSlug(name), description, price_cents, category, stock, now, now]
      const product = insert.get(...values) as unknown as Product
      return reply.code(201).send({ data: toResource(product) })
    },
  )
})
