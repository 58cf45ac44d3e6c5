/** Signs and verifies JWTs. Knows nothing of sessions: whether a genuine token still counts is for others to say. */
import { createSigner, createVerifier } from 'fast-jwt'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../core/clock.ts'
import type { JwtAlgorithm, SigningKey } from './signing-keys.ts'

export type TokenType = 'access' | 'refresh' | '2fa_challenge'

export interface Claims {
  iss: string
  sub: string
  iat: number
  exp: number
  jti: string
  /** The user's token version when the token was made. */
  ver: number
  family: string
  type: TokenType
}

export interface Tokens {
  sign(claims: Omit<Claims, 'iss'>): string
  /** The claims of a genuine token of that type, expired or not; undefined for everything else. */
  read(token: string, type: TokenType): Claims | undefined
  /** The same, where it has not expired. */
  readLive(token: string, type: TokenType): Claims | undefined
}

export interface TokenOptions {
  keys: readonly [SigningKey, ...SigningKey[]]
  algorithm: JwtAlgorithm
  issuer: string
  clock: Clock
}

type Verify = (token: string) => unknown

/** Ours are under 600 characters with a secret, under 900 with RSA. */
const maxLength = 4096
/** An access token comes again and again. Of those that were last seen, the signature is not computed anew. */
const maxKept = 10_000
/** Nodes' clocks differ a little; a token from further ahead was not made by us. */
const clockSkewSeconds = 5

export function createTokens({ keys, algorithm, issuer, clock }: TokenOptions): Tokens {
  const [current] = keys
  const signer = createSigner({ key: current.sign, algorithm, kid: current.kid })
  const verifiers = new Map<string, Verify>()
  for (const key of keys) {
    verifiers.set(
      key.kid,
      // Time is checked below, by a clock that can be moved.
      createVerifier({ key: key.verify, algorithms: [algorithm], cache: false, ignoreExpiration: true }) as Verify,
    )
  }
  const verifyByHeader = createHeaderReader(algorithm, verifiers, current.kid)
  /** Genuine ones alone, so nobody can fill it with what he made up. */
  const kept = new LRUCache<string, Claims>({ max: maxKept })

  function verified(token: string, type: TokenType): Claims | undefined {
    if (token.length > maxLength) return undefined
    const verify = verifyByHeader(token.slice(0, token.indexOf('.')))
    if (!verify) return undefined
    let claims: unknown
    try {
      claims = verify(token)
    } catch {
      return undefined
    }
    if (!isClaims(claims) || claims.iss !== issuer || claims.type !== type) return undefined
    if (type === 'access') kept.set(token, claims)
    return claims
  }

  function read(token: string, type: TokenType): Claims | undefined {
    const claims = (type === 'access' && kept.get(token)) || verified(token, type)
    if (!claims) return undefined
    return claims.iat > clock.nowSeconds() + clockSkewSeconds ? undefined : claims
  }

  return {
    sign: (claims) => signer({ iss: issuer, ...claims }),
    read,
    readLive(token, type) {
      const claims = read(token, type)
      return claims && claims.exp > clock.nowSeconds() ? claims : undefined
    },
  }
}

/**
 * Answers the verifier for a token's header. Only `alg`, `typ` and `kid` are allowed there: a header that brings its own
 * key, or asks for anything else, is not ours. Headers of our own tokens are all alike, so the answers are kept.
 */
function createHeaderReader(algorithm: string, verifiers: Map<string, Verify>, currentKid: string) {
  const known = new Map<string, Verify>()
  return (encoded: string): Verify | undefined => {
    const found = known.get(encoded)
    if (found) return found
    let header: unknown
    try {
      header = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
    } catch {
      return undefined
    }
    if (typeof header !== 'object' || header === null) return undefined
    const { alg, typ, kid = currentKid, ...others } = header as Record<string, unknown>
    if (alg !== algorithm || (typ !== undefined && typ !== 'JWT') || Object.keys(others).length > 0) return undefined
    const verify = typeof kid === 'string' ? verifiers.get(kid) : undefined
    // Whoever invents headers must not fill our memory with them.
    if (verify && known.size < 100) known.set(encoded, verify)
    return verify
  }
}

function isClaims(value: unknown): value is Claims {
  const { sub, iat, exp, jti, ver, family } = (value ?? {}) as Record<string, unknown>
  const areTexts = [sub, jti, family].every((text) => typeof text === 'string' && text !== '')
  return areTexts && [iat, exp, ver].every(Number.isSafeInteger) && /^[1-9]\d{0,15}$/.test(sub as string)
}
