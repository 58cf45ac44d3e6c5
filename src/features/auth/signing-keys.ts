/** The keys of tokens. The first one signs; all verify, selected by the token's `kid`. */
import { createPrivateKey, createPublicKey, hash } from 'node:crypto'

export type JwtAlgorithm = 'HS256' | 'HS384' | 'HS512' | 'RS256' | 'ES256' | 'EdDSA'

export interface SigningKey {
  kid: string
  /** A secret, or a private key in PEM. */
  sign: string
  verify: string
  /** For /.well-known/jwks.json. Absent for secrets. */
  jwk?: Record<string, unknown>
}

export type SigningKeys = [SigningKey, ...SigningKey[]]

export interface SigningKeyOptions {
  algorithm: JwtAlgorithm
  secret: string | undefined
  previousSecrets: readonly string[]
  /** In PEM. The first one signs, the others still verify. */
  privateKeys: readonly string[]
}

export function createSigningKeys({ algorithm, secret, previousSecrets, privateKeys }: SigningKeyOptions): SigningKeys {
  const keys = algorithm.startsWith('HS')
    ? [secret, ...previousSecrets].filter((each) => each !== undefined).map(fromSecret)
    : privateKeys.map((pem) => fromPem(pem, algorithm))
  const [first, ...rest] = keys
  if (!first) throw new Error('there is nothing to sign with')
  return [first, ...rest]
}

/** The digest identifies the secret, and reveals no more about it than any token that it signed. */
function fromSecret(secret: string): SigningKey {
  return { kid: hash('sha256', `kid ${secret}`, 'base64url').slice(0, 12), sign: secret, verify: secret }
}

function fromPem(pem: string, algorithm: JwtAlgorithm): SigningKey {
  const key = createPrivateKey(pem)
  const publicKey = createPublicKey(key)
  const jwk = publicKey.export({ format: 'jwk' })
  // RFC 7638 thumbprint: the required members in alphabetical order.
  const { crv, e, kty, n, x, y } = jwk
  const kid = hash('sha256', JSON.stringify({ crv, e, kty, n, x, y }), 'base64url')
  return {
    kid,
    sign: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    verify: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
  }
}
