/** Signs a message and posts it to an endpoint. */
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { Outbound, OutboundRequest } from '../../platform/outbound/outbound.ts'
import { OutboundError } from '../../platform/outbound/outbound-error.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { sign } from './signature.ts'
import type { Attempt, Message } from './webhook.ts'
import { decryptSecrets } from './webhook-secrets.ts'
import type { WebhookRow } from './webhooks.store.ts'

export interface SenderDeps {
  outbound: Outbound
  encryption: Encryption
  clock: Clock
  log: Log
  /** Of the service. */
  version: string
}

export type Endpoint = Pick<WebhookRow, 'id' | 'url' | 'secret' | 'previous_secret' | 'previous_until'>

export type SendOptions = Pick<OutboundRequest, 'signal' | 'connection'>

export type Send = (endpoint: Endpoint, message: Message, options?: SendOptions) => Promise<Attempt>

const timeoutMs = 10_000

export function createSender({ outbound, encryption, clock, log, version }: SenderDeps): Send {
  /** As long as an endpoint is in memory, so are its secrets. */
  const decrypted = new WeakMap<Endpoint, (now: number) => string[]>()

  function secretsOf(endpoint: Endpoint): string[] {
    const find = decrypted.get(endpoint) ?? decryptSecrets(endpoint, encryption)
    decrypted.set(endpoint, find)
    return find(clock.nowSeconds())
  }

  return async (endpoint, message, options) => {
    const startedAt = performance.now()
    try {
      const body = JSON.stringify({ type: message.type, timestamp: message.at, data: message.data })
      const timestamp = clock.nowSeconds()
      const headers = {
        'content-type': 'application/json',
        'user-agent': `Latchkey/${version}`,
        'webhook-id': message.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': sign({ id: message.id, timestamp, body }, secretsOf(endpoint)),
      }
      const answer = await outbound.post(endpoint.url, { ...options, headers, body, timeoutMs })
      return {
        status: answer.status >= 200 && answer.status < 300 ? 'delivered' : 'failed',
        responseStatus: answer.status,
        response: answer.body,
        error: null,
        durationMs: Math.round(answer.durationMs),
      }
    } catch (error) {
      if (!(error instanceof OutboundError))
        log.error({ err: error, webhook: endpoint.id }, 'a webhook could not be sent')
      return {
        status: 'failed',
        responseStatus: null,
        response: '',
        error: error instanceof OutboundError ? error.message : 'The message could not be prepared',
        durationMs: Math.round(performance.now() - startedAt),
      }
    }
  }
}
