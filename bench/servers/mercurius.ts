/** Plain Mercurius with its JIT, with the same schema and the same query on the same file. */
import fastify from 'fastify'
import mercurius from 'mercurius'
import { findPosts, schema } from '../support/bare-posts.ts'

const app = fastify()
await app.register(mercurius, {
  schema,
  jit: 1,
  resolvers: { Query: { posts: (_root: unknown, { limit }: { limit: number }) => findPosts(limit) } },
})
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
process.once('SIGTERM', () => process.exit(0))
