/** A bare Fastify server with one route: what a start cannot do without. JavaScript, so that no types have to be stripped. */
import fastify from 'fastify'

const app = fastify()
app.get('/health/ready', async () => ({ status: 'ok' }))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit(0))
