/** The service with one more route: a durable create with a commit of its own, on the event loop. */
import { DatabaseSync } from 'node:sqlite'
import type { Product } from '../../src/features/products/product.ts'
import { columns, writtenColumns, writtenValues } from '../../src/features/products/product-columns.store.ts'
import { OneProduct, toResource } from '../../src/features/products/product-resource.ts'
import { NewProduct, toInput } from '../../src/features/products/products.schema.ts'
import { serve } from '../support/serve.ts'

await serve((http) => {
  // The service may still be writing earlier requests.
  const db = new DatabaseSync((process.env.DATABASE_URL ?? '').replace(/^file:/, ''), { timeout: 5000 })
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const insert = db.prepare(
    `INSERT INTO products (created_at, updated_at, ${writtenColumns.join(', ')})
     VALUES (?, ?, ${writtenColumns.map(() => '?').join(', ')}) RETURNING ${columns}`,
  )
  http.post(
    '/one-commit',
    { config: { access: 'authenticated' }, schema: { body: NewProduct, response: { 201: OneProduct } } },
    async (request, reply) => {
      const now = new Date().toISOString()
      const given = writtenValues({ ...toInput(request.body), active: true })
      const values = given.map((value) => (typeof value === 'boolean' ? Number(value) : value))
      const product = insert.get(now, now, ...values) as unknown as Product
      return reply.code(201).send({ data: toResource(product) })
    },
  )
})
