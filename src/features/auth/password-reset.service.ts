/** A new password by mail, where the old one is forgotten. */
import { hash } from 'node:crypto'
import { normaliseEmail } from '../../core/email.ts'
import type { Random } from '../../core/random.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Log } from '../../platform/log/logger.ts'
import { createBackgroundMail } from '../../platform/mail/background-mail.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { KnownDevices } from './known-devices.ts'
import type { Lockout } from './lockout.ts'
import type { PasswordResetStore } from './password-resets.store.ts'
import { resetMessage } from './reset-message.ts'
import type { SessionStore } from './sessions.store.ts'

export interface PasswordResetDeps {
  db: Database
  random: Random
  log: Log
  accounts: AccountStore
  sessions: SessionStore
  resets: PasswordResetStore
  lockout: Lockout
  devices: Pick<KnownDevices, 'forgetAll'>
  passwords: Passwords
  audit: Audit
  mail: Mail | undefined
  publicUrl: string | undefined
  onAccessChanged: OnAccessChanged
}

/** Longer than any that we send. */
const maxTokenLength = 128

export function createPasswordReset(deps: PasswordResetDeps) {
  const { db, random, log, accounts, sessions, resets, lockout, devices, passwords, audit, mail, publicUrl } = deps
  const background = createBackgroundMail({ log })

  /** Returns at once: how long the rest takes must not tell whether anybody has that email. */
  function forgot(given: { email: string; client: Client }): void {
    background.begin('password reset mail', () => sendReset(normaliseEmail(given.email), given.client))
  }

  async function sendReset(email: string, client: Client): Promise<void> {
    const account = await accounts.findByEmail(email)
    if (!account || !mail) return
    const token = random.bytes(32).toString('base64url')
    const [, made] = await db.write<object>(
      // Takes the user's row, so that parallel requests count each other.
      accounts.stillHasVersion(account.id, account.token_version),
      resets.insert(hashToken(token), account.id),
      // Anybody may ask for it.
      audit.entry({ event: 'password_forgot', outcome: 'success', userId: account.id, actorId: null, client }),
    )
    if (made && made.length > 0) await mail.send(resetMessage({ to: account.email, token, publicUrl }))
  }

  /** Whether a password can be set with it. Looking uses nothing up. */
  async function isResetValid(token: string): Promise<boolean> {
    return token.length <= maxTokenLength && (await resets.find(hashToken(token))) !== undefined
  }

  async function reset(given: { token: string; password: string; client: Client }): Promise<void> {
    const tokenHash = hashToken(given.token)
    const known = await resets.find(tokenHash)
    // Only a token that is good is worth a hash: guessing must not keep the threads busy.
    if (!known) throw authErrors.invalidResetToken()
    const { user_id: userId, email } = known
    const passwordHash = await passwords.hash(given.password, given.client)
    // In the order in which a login takes its rows, so that the two never wait for each other.
    const [, used] = await db.write(
      lockout.unlockWithoutSecondFactor({ email, id: userId }),
      accounts.setPassword(userId, passwordHash),
      resets.use(tokenHash),
      sessions.revokeAll(userId, 'password_change'),
      ...devices.forgetAll(userId),
      resets.voidAll(userId),
      audit.entry({ event: 'password_reset', outcome: 'success', userId, actorId: userId, client: given.client }),
    )
    if (!used || used.length === 0) throw authErrors.invalidResetToken()
    audit.count('password_reset', 'success')
    await deps.onAccessChanged(userId)
  }

  return {
    canMail: mail !== undefined,
    delivery: mail?.delivery ?? ('none' as const),
    isResetValid,
    forgot,
    reset,
    close: background.close,
  }
}

function hashToken(token: string): string {
  return hash('sha256', token, 'base64url')
}
