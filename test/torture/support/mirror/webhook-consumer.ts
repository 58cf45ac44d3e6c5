/** A receiver of webhooks that keeps a copy. It fails now and then, and knows by `webhook-id` what it has already got. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { latchkey } from '../../../support/process.ts'
import type { Consumer } from './consumers.ts'
import { Copy } from './copy.ts'
import { ofResource } from './rows.ts'

export interface WebhookConsumerOptions {
  /** Of a node that is running. */
  url: string
  databaseUrl: string
  random(): number
  cursor: string
}

/** Few: each is tried again after five seconds. */
const shareFailed = 1 / 500
const account = { email: 'admin@example.com', password: 'Correct-Horse-1' }

export async function startWebhookConsumer({
  url,
  databaseUrl,
  random,
  cursor,
}: WebhookConsumerOptions): Promise<Consumer> {
  const copy = new Copy(cursor)
  const received = new Set<string>()
  let secret = ''
  let requests = 0
  let failure: Error | undefined

  async function take(request: IncomingMessage): Promise<void> {
    const body = await text(request)
    const headers = request.headers as Record<string, string>
    const { type, data } = new Webhook(secret).verify(body, headers) as { type: string; data: unknown }
    const id = String(headers['webhook-id'])
    if (received.has(id)) return
    copy.apply({ cursor: '', type, version: Number(id.split('_')[2]), row: ofResource(data) })
    received.add(id)
  }

  const server = createServer(async (request, response) => {
    requests += 1
    try {
      await take(request)
    } catch (error) {
      // Not if the node was killed while it sent.
      if (!request.destroyed || request.complete) failure ??= error as Error
    }
    const choice = random()
    if (choice < shareFailed / 2) request.socket.destroy()
    else response.writeHead(choice < shareFailed ? 500 : 204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  secret = await createEndpoint(url, { databaseUrl, receiver: `http://127.0.0.1:${port}/` })
  return {
    name: 'webhooks',
    copy,
    connections: () => requests,
    failure: () => failure,
    async stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Returns its secret. */
async function createEndpoint(url: string, { databaseUrl, receiver }: Record<'databaseUrl' | 'receiver', string>) {
  const { email, password } = account
  const env = { DATABASE_URL: databaseUrl, BCRYPT_COST: '4' }
  const made = await latchkey(['user:create', '--email', email, '--role', 'admin'], { env, input: `${password}\n` })
  if (made.code !== 0) throw new Error(made.stderr)
  const { access_token } = await post(`${url}/api/auth/login`, account)
  const { data } = await post(`${url}/api/admin/webhooks`, { url: receiver, types: ['product.*'] }, access_token)
  return data.secret as string
}

async function post(url: string, body: object, token = '') {
  const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  // biome-ignore lint/suspicious/noExplicitAny: two answers, of which one value each is needed
  return (await response.json()) as any
}
