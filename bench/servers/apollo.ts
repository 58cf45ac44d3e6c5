/** Apollo Server as in its getting-started guide, with the same schema and the same query on the same file. */
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { findPosts, schema } from '../support/bare-posts.ts'

const server = new ApolloServer({
  typeDefs: schema,
  resolvers: { Query: { posts: (_root: unknown, { limit }: { limit: number }) => findPosts(limit) } },
})
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } })
process.stdout.write(`${url.replace(/\/$/, '')}\n`)
process.once('SIGTERM', () => process.exit(0))
