/** A TCP proxy between a client and a server: records data, lists connections, refuses new ones. */
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Proxied {
  /** The client port that the server sees. */
  port(): number
  /** What the client has sent so far. */
  sent(): string
  isClosed(): boolean
  /** Stops forwarding. */
  silence(): void
  end(): void
}

export interface ServerProxy {
  /** The server's URL through the proxy. */
  url: string
  /** The most recent connection. */
  latest(): Proxied
  /** The open connections. */
  open(): Proxied[]
  /** Refuses new connections until they are admitted again. */
  refuse(): void
  admit(): void
}

/** Delays data of the client by `delayMs`. */
export async function startProxy(t: Pick<TestContext, 'after'>, serverUrl: string, delayMs = 0): Promise<ServerProxy> {
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
