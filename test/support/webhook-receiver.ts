/** A receiver of webhooks. It verifies every signature with the reference library. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'

export interface Received {
  /** The header webhook-id. */
  id: string
  timestamp: number
  signatures: string[]
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape and assert what they find
  message: any
  headers: IncomingMessage['headers']
}

export type Answer = number | ((request: Received, response: ServerResponse) => void)

export interface Receiver {
  url: string
  received: Received[]
  /** How many were made so far. */
  connections: number
  /** What it answers from now on. */
  answer: Answer
  close(): Promise<void>
}

export async function startReceiver(t: TestContext, answer: Answer = 204): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const header = (name: string) => String(request.headers[name])
    const received: Received = {
      id: header('webhook-id'),
      timestamp: Number(header('webhook-timestamp')),
      signatures: header('webhook-signature').split(' '),
      body,
      message: JSON.parse(body),
      headers: request.headers,
    }
    receiver.received.push(received)
    const { answer: current } = receiver
    if (typeof current === 'number') response.writeHead(current).end()
    else current(received, response)
  })
  server.on('connection', () => {
    receiver.connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  t.after(close)
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    connections: 0,
    answer,
    close,
  }
  return receiver
}

/** Throws if no signature is by this secret. The clock of a test may be moved, so the age is not checked here. */
export function verify(secret: string, { id, timestamp, signatures, body }: Received): void {
  const signed = new Webhook(secret).sign(id, new Date(timestamp * 1000), body)
  if (!signatures.includes(signed)) throw new Error('no signature fits')
}
