/**
 * The hidden field `_token` of every form. It is bound to what the browser's cookie holds, so a page of another site
 * can neither read one nor make one up.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../core/random.ts'

export interface Csrf {
  /** Another one each time: a token that stayed the same could be guessed from the lengths of compressed pages. */
  issue(binding: string): string
  isValid(token: unknown, binding: string): boolean
}

const nonceBytes = 16
/** Of the nonce, the dot and the signature in base64url, with some room. */
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
