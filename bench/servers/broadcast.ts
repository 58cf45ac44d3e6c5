/** The library and nothing else: the same bytes to every socket, as PROTOCOL writes them. */
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { cpuSeconds, firstCount, heapNow, messageOf, protocols } from '../support/fan-out.ts'

const protocol = protocols.find((name) => name === process.env.PROTOCOL) ?? 'plain-json'

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  if (pathname === '/publish') {
    for (let i = 0; i < Number(searchParams.get('values')); i++) {
      const value = Buffer.from(messageOf(protocol, firstCount + i))
      for (const client of sockets.clients) client.send(value, { binary: false })
      await turn()
    }
  }
  const state =
    pathname === '/memory' ? { heap: heapNow() } : { subscribers: sockets.clients.size, cpuSeconds: cpuSeconds() }
  response.end(JSON.stringify(state))
})
const sockets = new WebSocketServer({ server, path: '/graphql' })
// Clients that introduce themselves wait for something.
if (protocol !== 'plain-json') sockets.on('connection', (ws) => ws.once('message', () => ws.send('{}')))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
