/** TOTP codes (RFC 6238) and recovery codes. */
import { hash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Random } from '../../core/random.ts'

const periodSeconds = 30
const recoveryCodes = 10

function totpOf(secret: string): TOTP {
  return new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: periodSeconds })
}

/** 160 bits, as RFC 4226 recommends. */
export function createSecret(random: Random): string {
  return new Secret({ buffer: toArrayBuffer(random.bytes(20)) }).base32
}

/** Returns the time step of a code, within one step of now; undefined if it is wrong. */
export function findStep(secret: string, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = totpOf(secret).validate({ token: code, timestamp: nowMs, window: 1 })
  return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta
}

/** What an app reads from the QR code. */
export function otpauthUrl({ secret, email, issuer }: { secret: string; email: string; issuer: string }): string {
  const totp = totpOf(secret)
  totp.issuer = issuer
  totp.label = email
  return totp.toString()
}

/** 120 bits each, in groups of four that a person can copy from paper. */
export function createRecoveryCodes(random: Random): string[] {
  return Array.from({ length: recoveryCodes }, () => {
    const code = new Secret({ buffer: toArrayBuffer(random.bytes(15)) }).base32
    return (code.match(/.{4}/g) ?? []).join('-')
  })
}

/** Ignores case, spaces and hyphens. */
export function hashRecoveryCode(code: string): string {
  return hash('sha256', code.toUpperCase().replace(/[\s-]/g, ''), 'hex')
}

function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}
