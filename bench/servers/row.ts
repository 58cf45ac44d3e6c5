/** The service with one more route: a row by its key, through the database interface. */
import { serve } from '../support/serve.ts'

const text = { type: 'string' }
const integer = { type: 'integer' }
const properties = { id: integer, email: text, name: text, token_version: integer, created_at: text, updated_at: text }
const schema = { response: { 200: { type: 'object', properties } } }

await serve(async (http, { db }) => {
  await db.write({
    sql: `INSERT INTO users (email, name, password_hash, created_at, updated_at)
          VALUES ($1, $2, '-', $3, $3)`,
    params: ['ada@example.com', 'Ada Lovelace', '2026-11-15T00:00:00.000Z'],
  })
  http.get<{ Params: { id: string } }>('/rows/:id', { config: { access: 'public' }, schema }, (request) =>
    db.get('SELECT id, email, name, token_version, created_at, updated_at FROM users WHERE id = $1', [
      Number(request.params.id),
    ]),
  )
})
