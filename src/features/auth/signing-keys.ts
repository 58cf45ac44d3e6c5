/** The keys that sign and verify tokens. The first signs; all verify. A token's `kid` says which. */
import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

export type JwtAlgorithm = 'HS256' | 'HS384' | 'HS512' | 'RS256' | 'ES256' | 'EdDSA'

export interface SigningKey {
  kid: string
  /** As the JWT library takes it: a secret, or a private key in PEM. */
  sign: string
  verify: string
  /** Absent for secrets, which are nobody else's business. */
  jwk?: Record<string, unknown>
}

export interface SigningKeyOptions {
  algorithm: JwtAlgorithm
  secret: string | undefined
  previousSecrets: readonly string[]
  /** A PEM file. Where it holds several keys, the first signs and the others still verify. */
  privateKeyFile: string | undefined
}

export function loadSigningKeys(options: SigningKeyOptions): [SigningKey, ...SigningKey[]] {
  const { algorithm, secret, previousSecrets, privateKeyFile } = options
  const keys = algorithm.startsWith('HS')
    ? [secret, ...previousSecrets].filter((each) => each !== undefined).map(fromSecret)
    : readPem(privateKeyFile as string).map((pem) => fromPem(pem, algorithm, privateKeyFile as string))
  const [first, ...rest] = keys
  if (!first) throw badKey(`${privateKeyFile} holds no private key`)
  return [first, ...rest]
}

/** The digest names the secret without telling it, no more than any token signed by it does. */
function fromSecret(secret: string): SigningKey {
  return { kid: hash('sha256', `kid ${secret}`, 'base64url').slice(0, 12), sign: secret, verify: secret }
}

function readPem(file: string): string[] {
  try {
    const text = readFileSync(file, 'utf8')
    return text.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g) ?? []
  } catch (error) {
    throw badKey(`cannot read JWT_PRIVATE_KEY_FILE ${file}: ${(error as NodeJS.ErrnoException).code}`, error)
  }
}

function fromPem(pem: string, algorithm: JwtAlgorithm, file: string): SigningKey {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (error) {
    throw badKey(`${file} holds a private key that cannot be read`, error)
  }
  if (!fits(key, algorithm)) throw badKey(`${file}: ${algorithm} needs ${neededBy[algorithm]}`)
  const publicKey = createPublicKey(key)
  const jwk = publicKey.export({ format: 'jwk' })
  // The thumbprint of RFC 7638: the required members in alphabetical order.
  const { crv, e, kty, n, x, y } = jwk
  const kid = hash('sha256', JSON.stringify({ crv, e, kty, n, x, y }), 'base64url')
  return {
    kid,
    sign: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    verify: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
  }
}

const neededBy: Readonly<Record<string, string>> = {
  RS256: 'an RSA key of at least 2048 bits',
  ES256: 'a P-256 key',
  EdDSA: 'an Ed25519 key',
}

function fits(key: KeyObject, algorithm: JwtAlgorithm): boolean {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {}
  if (algorithm === 'RS256') return key.asymmetricKeyType === 'rsa' && modulusLength >= 2048
  if (algorithm === 'ES256') return key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1'
  return key.asymmetricKeyType === 'ed25519'
}

function badKey(message: string, cause?: unknown): FatalError {
  return new FatalError(message, exitCodes.configuration, { cause })
}
