/** The hidden field `_token` of every form, an HMAC bound to a cookie: other sites can neither read nor forge it. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../core/random.ts'

export interface Csrf {
  /** Different each time, because a constant token could be guessed from the lengths of compressed pages (BREACH). */
  issue(binding: string): string
  isValid(token: unknown, binding: string): boolean
}

const nonceBytes = 16
/** More than the nonce, the dot and the signature in base64url take. */
const maxLength = 100

export function createCsrf({ secret, random }: { secret: string; random: Random }): Csrf {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'latchkey csrf', 32))
  const sign = (nonce: string, binding: string) => createHmac('sha256', key).update(`${nonce} ${binding}`).digest()
  return {
    issue(binding) {
      const nonce = random.bytes(nonceBytes).toString('base64url')
      return `${nonce}.${sign(nonce, binding).toString('base64url')}`
    },
    isValid(token, binding) {
      if (typeof token !== 'string' || token.length > maxLength) return false
      const [nonce = '', given = ''] = token.split('.', 2)
      const expected = sign(nonce, binding)
      const bytes = Buffer.from(given, 'base64url')
      return bytes.length === expected.length && timingSafeEqual(bytes, expected)
    },
  }
}
