/** The posts of a database file, for the servers we compare with. */
import { DatabaseSync } from 'node:sqlite'

export const schema = `
  type Post { id: ID! title: String body: String }
  type Query { posts(limit: Int = 100, after: ID): [Post!]! }
`

const db = new DatabaseSync(process.env.DATABASE_FILE ?? '', { readOnly: true })
const statement = db.prepare('SELECT id, title, body FROM posts WHERE id > ? ORDER BY id LIMIT ?')

export function findPosts(limit: number): unknown[] {
  return statement.all(0, limit)
}
