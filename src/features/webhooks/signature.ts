/** Secrets and signatures by the Standard Webhooks specification. */
import { createHmac } from 'node:crypto'
import type { Random } from '../../core/random.ts'

const prefix = 'whsec_'
const secretBytes = 32

export function createSecret(random: Random): string {
  return prefix + random.bytes(secretBytes).toString('base64')
}

export interface Signed {
  id: string
  /** Unix seconds. */
  timestamp: number
  body: string
}

/** One signature per secret, so that receivers may know either while a secret is replaced. */
export function sign({ id, timestamp, body }: Signed, secrets: readonly string[]): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
}
