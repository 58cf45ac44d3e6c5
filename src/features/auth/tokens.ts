/** Signs and verifies JWTs. Revocation and token versions are checked elsewhere. */
import { createSigner, createVerifier } from 'fast-jwt'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../core/clock.ts'
import type { JwtAlgorithm, SigningKey } from './signing-keys.ts'

export type TokenType = 'access' | 'refresh' | '2fa_challenge'

export interface Claims {
  iss: string
  /** Absent in old tokens. */
  aud?: string
  sub: string
  iat: number
  exp: number
  jti: string
  /** The user's token version at the time of issue. */
  ver: number
  family: string
  type: TokenType
}

export interface Tokens {
  sign(claims: Omit<Claims, 'iss' | 'aud'>): string
  /** Returns the claims of a genuine token of that type, expired or not. */
  read(token: string, type: TokenType): Claims | undefined
  /** Returns undefined for expired tokens too. */
  readLive(token: string, type: TokenType): Claims | undefined
}

export interface TokenOptions {
  keys: readonly [SigningKey, ...SigningKey[]]
  algorithm: JwtAlgorithm
  issuer: string
  clock: Clock
}

type Verify = (token: string) => unknown

/** The header's `typ`. `at+jwt` is RFC 9068's; a standard verifier refuses the others as access tokens. */
const headerTypes: Record<TokenType, string> = {
  access: 'at+jwt',
  refresh: 'refresh+jwt',
  '2fa_challenge': '2fa-challenge+jwt',
}
/** The header's `typ` of old tokens, which have no `aud` either. */
const formerHeaderType = 'JWT'

/** Issued tokens have less than 600 characters with a secret, and less than 900 with RSA. */
const maxLength = 4096
/** Cache of verified access tokens, so that a signature is not verified at every request. */
const maxCached = 10_000
/** Tolerates differing clocks of nodes. */
const clockSkewSeconds = 5

export function createTokens({ keys, algorithm, issuer, clock }: TokenOptions): Tokens {
  const [current] = keys
  const audiences: Record<TokenType, string> = {
    access: issuer,
    refresh: `${issuer}/refresh`,
    '2fa_challenge': `${issuer}/2fa`,
  }
  const createTypeSigner = (type: TokenType) =>
    createSigner({
      key: current.sign,
      algorithm,
      kid: current.kid,
      header: { alg: algorithm, typ: headerTypes[type] },
      iss: issuer,
      aud: audiences[type],
    })
  const signers: Record<TokenType, (claims: object) => string> = {
    access: createTypeSigner('access'),
    refresh: createTypeSigner('refresh'),
    '2fa_challenge': createTypeSigner('2fa_challenge'),
  }
  const verifiers = new Map<string, Verify>()
  for (const key of keys) {
    verifiers.set(
      key.kid,
      // Expiry is checked below, with the injected clock.
      createVerifier({ key: key.verify, algorithms: [algorithm], cache: false, ignoreExpiration: true }) as Verify,
    )
  }
  const readHeader = createHeaderReader(algorithm, verifiers, current.kid)
  /** Genuine tokens only, so that forged ones cannot evict them. */
  // With `max`, it would fill arrays of that length at once.
  const cached = new LRUCache<string, Claims>({ maxSize: maxCached, sizeCalculation: () => 1 })
  /** Of genuine tokens only. There are few: one for each type and key. */
  const headers = new LRUCache<string, Header>({ max: 100 })

  function verified(token: string, type: TokenType): Claims | undefined {
    if (token.length > maxLength) return undefined
    const encoded = token.slice(0, token.indexOf('.'))
    const header = headers.get(encoded) ?? readHeader(encoded)
    if (!header) return undefined
    let claims: unknown
    try {
      claims = header.verify(token)
    } catch {
      return undefined
    }
    if (!isClaims(claims) || claims.iss !== issuer || claims.type !== type) return undefined
    const expected =
      header.typ === formerHeaderType
        ? claims.aud === undefined
        : header.typ === headerTypes[type] && claims.aud === audiences[type]
    if (!expected) return undefined
    headers.set(encoded, header)
    if (type === 'access') cached.set(token, claims)
    return claims
  }

  function read(token: string, type: TokenType): Claims | undefined {
    const claims = (type === 'access' && cached.get(token)) || verified(token, type)
    if (!claims) return undefined
    return claims.iat > clock.nowSeconds() + clockSkewSeconds ? undefined : claims
  }

  return {
    sign: (claims) => signers[claims.type](claims),
    read,
    readLive(token, type) {
      const claims = read(token, type)
      return claims && claims.exp > clock.nowSeconds() ? claims : undefined
    },
  }
}

interface Header {
  typ: string
  verify: Verify
}

/** Allows only `alg`, `typ` and `kid`: a header with its own key (`jwk`, `jku`, `x5u`) or other parameters is refused. */
function createHeaderReader(algorithm: string, verifiers: Map<string, Verify>, currentKid: string) {
  return (encoded: string): Header | undefined => {
    let given: unknown
    try {
      given = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
    } catch {
      return undefined
    }
    if (typeof given !== 'object' || given === null) return undefined
    const { alg, typ = formerHeaderType, kid = currentKid, ...others } = given as Record<string, unknown>
    if (alg !== algorithm || typeof typ !== 'string' || Object.keys(others).length > 0) return undefined
    const verify = typeof kid === 'string' ? verifiers.get(kid) : undefined
    if (!verify) return undefined
    return { typ, verify }
  }
}

/** The form of `random.id()`. Others are not looked up, because PostgreSQL fails on U+0000. */
const idPattern = /^[\w-]{1,64}$/
const maxVersion = 2 ** 31 - 1
/** The last second of the year 9999. */
const maxTime = 253_402_300_799

/**
 * A genuine signature does not guarantee well-formed claims: the secret may be used to sign other tokens elsewhere. Values
 * out of range would be database errors instead of a 401.
 */
function isClaims(value: unknown): value is Claims {
  const { sub, iat, exp, jti, ver, family } = (value ?? {}) as Record<string, unknown>
  const areIds = [jti, family].every((text) => typeof text === 'string' && idPattern.test(text))
  const isSubject = typeof sub === 'string' && /^[1-9]\d{0,15}$/.test(sub) && Number.isSafeInteger(Number(sub))
  return areIds && isSubject && isWithin(ver, maxVersion) && isWithin(iat, maxTime) && isWithin(exp, maxTime)
}

function isWithin(value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max
}
