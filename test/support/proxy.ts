/** Stands between a client and a server of the tests: sees what is sent, knows the connections, keeps new ones away. */
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Proxied {
  /** The port that the server sees the connection come from. */
  port(): number
  /** What the client has sent so far. */
  sent(): string
  isClosed(): boolean
  /** Forwards nothing any more. */
  silence(): void
  end(): void
}

export interface ServerProxy {
  /** The server's URL, by way of the proxy. */
  url: string
  /** The connection that was made last. */
  latest(): Proxied
  /** Those that are still there. */
  open(): Proxied[]
  /** Lets no new connection through, until they are admitted again. */
  refuse(): void
  admit(): void
}

/** What the client sends reaches the server `delayMs` later. */
export async function startProxy(t: TestContext, serverUrl: string, delayMs = 0): Promise<ServerProxy> {
  const target = new URL(serverUrl)
  const connections: Proxied[] = []
  let isOpen = true
  const sockets = new Set<Socket>()
  const server = createServer((inward) => {
    if (!isOpen) return void inward.destroy()
    const outward = connect(Number(target.port), target.hostname)
    let sent = ''
    connections.push({
      port: () => outward.localPort ?? 0,
      sent: () => sent,
      isClosed: () => outward.destroyed,
      silence() {
        inward.unpipe(outward)
        outward.unpipe(inward)
      },
      end: () => void inward.destroy(),
    })
    inward.on('data', (chunk) => {
      sent += chunk.toString('latin1')
    })
    for (const [from, to] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      if (from === outward || delayMs === 0) from.pipe(to)
    }
    if (delayMs > 0) inward.on('data', (chunk) => setTimeout(() => outward.write(chunk), delayMs))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(serverUrl)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    latest: () => connections.at(-1) as Proxied,
    open: () => connections.filter((connection) => !connection.isClosed()),
    refuse() {
      isOpen = false
    },
    admit() {
      isOpen = true
    },
  }
}
