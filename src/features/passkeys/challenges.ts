/**
 * WebAuthn challenges. They are signed, not stored: anybody may request one, and that must not write to the database.
 * Used challenges are recorded until they expire.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { SingleUseIds } from '../../platform/database/single-use-ids.ts'

export interface ChallengesDeps {
  clock: Clock
  random: Random
  singleUseIds: SingleUseIds
  secret: string
}

/** A genuine challenge that has not expired, but may have been used. */
export interface Challenge {
  /** Deciding statement: fails if the challenge was used. */
  use: Statement
  isUsed(): Promise<boolean>
}

export const challengeSeconds = 300
const nonceBytes = 16
const timeBytes = 6
const signatureBytes = 32

export function createChallenges({ clock, random, singleUseIds, secret }: ChallengesDeps) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'latchkey passkey challenges', 32))
  const sign = (signed: Buffer, purpose: string) => createHmac('sha256', key).update(signed).update(purpose).digest()

  /** Returns base64url. The purpose binds the challenge to one use and one session. */
  function issue(purpose: string): string {
    const expiry = Buffer.alloc(timeBytes)
    expiry.writeUIntBE(clock.nowSeconds() + challengeSeconds, 0, timeBytes)
    const signed = Buffer.concat([random.bytes(nonceBytes), expiry])
    return Buffer.concat([signed, sign(signed, purpose)]).toString('base64url')
  }

  /** Returns undefined if it was not issued for that purpose, or has expired. */
  function read(challenge: string, purpose: string): Challenge | undefined {
    const bytes = Buffer.from(challenge, 'base64url')
    if (bytes.length !== nonceBytes + timeBytes + signatureBytes) return undefined
    const signed = bytes.subarray(0, nonceBytes + timeBytes)
    if (!timingSafeEqual(sign(signed, purpose), bytes.subarray(signed.length))) return undefined
    const expiresAt = signed.readUIntBE(nonceBytes, timeBytes)
    if (expiresAt <= clock.nowSeconds()) return undefined
    const name = `passkey ${signed.subarray(0, nonceBytes).toString('base64url')}`
    return { use: singleUseIds.use(name, expiresAt), isUsed: () => singleUseIds.isUsed(name) }
  }

  return { issue, read }
}

export type Challenges = ReturnType<typeof createChallenges>
