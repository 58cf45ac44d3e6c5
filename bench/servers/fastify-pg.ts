/** A bare Fastify handler that reads a product of PostgreSQL by a named statement. */
import fastify from 'fastify'
import pg from 'pg'
import { columns } from '../../src/features/products/product-columns.store.ts'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL_SIZE) })
const text = `SELECT ${columns} FROM products WHERE id = $1 AND deleted_at IS NULL`
const server = fastify()
server.get<{ Params: { id: string } }>('/api/v2/products/:id', async ({ params }, reply) => {
  const { rows } = await pool.query({ name: 'product by id', text, values: [params.id] })
  return rows[0] ?? reply.code(404).send({ error: 'Not found' })
})
process.stdout.write(`${await server.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit(0))
