/** Reads the private key file. Of several keys, the first signs and the others still verify. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Returns the keys in PEM, or a problem for an error message. */
export function readPrivateKeys(file: string, algorithm: string): { keys: string[] } | { problem: string } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { problem: `${file} cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
  const keys = privateKeysIn(text)
  if (keys.length === 0) return { problem: `${file} holds no private key` }
  for (const pem of keys) {
    const key = parse(pem)
    if (!key) return { problem: `${file} holds a private key that cannot be read` }
    if (!fits(key, algorithm)) return { problem: `${file}: ${algorithm} needs ${needed[algorithm] ?? 'no key file'}` }
  }
  return { keys }
}

function privateKeysIn(text: string): string[] {
  const starts = text.split('-----BEGIN ').slice(1)
  return starts.flatMap((part) => {
    const kind = part.slice(0, part.indexOf('-----'))
    const end = `-----END ${kind}-----`
    const length = part.indexOf(end)
    return kind.endsWith('PRIVATE KEY') && length >= 0 ? [`-----BEGIN ${part.slice(0, length)}${end}`] : []
  })
}

function parse(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}

const needed: Readonly<Record<string, string>> = {
  RS256: 'an RSA key of at least 2048 bits',
  ES256: 'a P-256 key',
  EdDSA: 'an Ed25519 key',
}

function fits(key: KeyObject, algorithm: string): boolean {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {}
  if (algorithm === 'RS256') return key.asymmetricKeyType === 'rsa' && modulusLength >= 2048
  if (algorithm === 'ES256') return key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1'
  return algorithm === 'EdDSA' && key.asymmetricKeyType === 'ed25519'
}
