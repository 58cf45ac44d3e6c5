/** A bare `ws` server: whatever is posted to it goes to every socket. */
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const message = Buffer.concat(parts)
    for (const socket of sockets.clients) socket.send(message, { binary: false })
    response.end('{}')
  })
})
server.on('upgrade', (request, socket, head) => sockets.handleUpgrade(request, socket, head, () => {}))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
