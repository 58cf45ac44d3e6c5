/** Bare `ws`: sends the same bytes to every socket. */
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { firstCount, memoryNow } from '../support/fan-out.ts'

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  if (pathname === '/publish') {
    for (let i = 0; i < Number(searchParams.get('values')); i++) {
      const value = Buffer.from(JSON.stringify({ data: { counter: { count: firstCount + i } } }))
      for (const client of sockets.clients) client.send(value, { binary: false })
      await turn()
    }
  }
  response.end(JSON.stringify({ subscribers: sockets.clients.size, memory: memoryNow() }))
})
const sockets = new WebSocketServer({ server, path: '/graphql' })
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
