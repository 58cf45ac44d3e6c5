/** An HTTP proxy that hands on every request, and loses some of the answers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Owner } from './api.ts'

export interface LossyProxy {
  url: string
  /** The bodies of all requests to the path so far, whose answers were lost or not. */
  received(path: string): string[]
  lost(path: string): number
  close(): Promise<void>
}

export interface LossyOptions {
  target: string
  /** Whether to lose the answer to the n-th request for this path, from 1. */
  isLost(path: string, n: number): boolean
}

export const everyThird = (_path: string, n: number) => n % 3 === 1

export async function startLossyProxy({ target, isLost }: LossyOptions): Promise<LossyProxy> {
  const bodies = new Map<string, string[]>()
  const lost = new Map<string, number>()
  const received = (path: string) => {
    const known = bodies.get(path) ?? []
    bodies.set(path, known)
    return known
  }
  const server = createServer(async (incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?')
    try {
      const body = Buffer.concat(await incoming.toArray())
      const n = received(path).push(body.toString())
      const { method = 'GET', headers } = incoming
      const answer = await forward(target + incoming.url, { method, headers }, body)
      const text = Buffer.concat(await answer.toArray())
      if (isLost(path, n)) {
        lost.set(path, (lost.get(path) ?? 0) + 1)
        outgoing.destroy()
      } else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(text)
    } catch {
      outgoing.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    lost: (path) => lost.get(path) ?? 0,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Closes with the test. */
export async function lossyProxy(t: Owner, options: LossyOptions): Promise<LossyProxy> {
  const proxy = await startLossyProxy(options)
  t.after(() => proxy.close())
  return proxy
}

/** Sends a request of a client on, over a connection of its own. */
export async function forward(address: string, options: RequestOptions, body: Buffer): Promise<IncomingMessage> {
  const sent = request(address, { ...options, agent: false })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer
}
