/** Changing a password, and getting a new one by mail where the old one is forgotten. */
import { hash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { normaliseEmail } from '../../core/email.ts'
import type { Random } from '../../core/random.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { Lockout } from './lockout.ts'
import type { Login } from './login.service.ts'
import { resetMessage } from './reset-message.ts'
import type { SessionStore } from './sessions.store.ts'

export interface PasswordDeps {
  db: Database
  clock: Clock
  random: Random
  log: Log
  accounts: AccountStore
  sessions: SessionStore
  lockout: Lockout
  login: Pick<Login, 'confirmPassword' | 'requireOpen'>
  passwords: Passwords
  audit: Audit
  mail: Mail | undefined
  publicUrl: string | undefined
  onAccessChanged: OnAccessChanged
}

const resetSeconds = 3600
const mailsPerHour = 3
const maxCloseMs = 5000
/** Longer than any that we send. */
const maxTokenLength = 128

export function createPasswordService(deps: PasswordDeps) {
  const {
    db,
    clock,
    random,
    log,
    accounts,
    sessions,
    lockout,
    login,
    passwords,
    audit,
    mail,
    publicUrl,
    onAccessChanged,
  } = deps
  const underWay = new Set<Promise<void>>()

  async function change(given: { userId: number; current: string; next: string; client: Client }): Promise<void> {
    const { userId, client } = given
    const event = 'password_change'
    const account = await login.confirmPassword({ userId, password: given.current, event, client })
    const [passed] = await db.write(
      lockout.passes(account.email),
      accounts.stillHasVersion(userId, account.token_version),
      accounts.setPassword(userId, await passwords.hash(given.next, client)),
      sessions.revokeAll(userId),
      voidResets(userId),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    )
    if (passed && passed.length > 0) return onAccessChanged(userId)
    await login.requireOpen({ email: account.email, event, userId, actorId: userId, client })
    throw authErrors.invalidCredentials()
  }

  /** Returns at once: how long the rest takes must not tell whether anybody has that email. */
  function forgot(given: { email: string; client: Client }): void {
    const work = sendReset(normaliseEmail(given.email), given.client)
      .catch((error: unknown) => log.error({ err: error }, 'password reset mail failed'))
      .finally(() => underWay.delete(work))
    underWay.add(work)
  }

  async function sendReset(email: string, client: Client): Promise<void> {
    const account = await accounts.findByEmail(email)
    if (!account || !mail) return
    const token = random.bytes(32).toString('base64url')
    const now = clock.nowSeconds()
    const [, made] = await db.write<object>(
      // Takes the user's row, so that parallel requests count each other.
      accounts.stillHasVersion(account.id, account.token_version),
      {
        sql: `INSERT INTO password_resets (token_hash, user_id, created_at, expires_at)
              SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)
              WHERE (SELECT count(*) FROM password_resets WHERE user_id = $2 AND created_at > $5) < $6
              RETURNING user_id`,
        params: [hashToken(token), account.id, now, now + resetSeconds, now - 3600, mailsPerHour],
        decides: true,
      },
      // Anybody may ask for it.
      audit.entry({ event: 'password_forgot', outcome: 'success', userId: account.id, actorId: null, client }),
    )
    if (made && made.length > 0) await mail.send(resetMessage({ to: account.email, token, publicUrl }))
  }

  /** Whether a password can be set with it. Looking uses nothing up. */
  async function isResetValid(token: string): Promise<boolean> {
    return token.length <= maxTokenLength && (await findReset(hashToken(token))) !== undefined
  }

  const findReset = (tokenHash: string) =>
    db.get<{ user_id: number; email: string }>(
      `SELECT r.user_id, u.email FROM password_resets r JOIN users u ON u.id = r.user_id
       WHERE r.token_hash = $1 AND r.used_at IS NULL AND r.expires_at > $2`,
      [tokenHash, clock.nowSeconds()],
    )

  async function reset(given: { token: string; password: string; client: Client }): Promise<void> {
    const tokenHash = hashToken(given.token)
    const known = await findReset(tokenHash)
    // Only a token that is good is worth a hash: guessing must not keep the threads busy.
    if (!known) throw authErrors.invalidResetToken()
    const { user_id: userId, email } = known
    const passwordHash = await passwords.hash(given.password, given.client)
    // In the order in which a login takes its rows, so that the two never wait for each other.
    const [, used] = await db.write(
      {
        // With a second factor on, whoever holds the mailbox must not get five more guesses at it.
        sql: `DELETE FROM login_attempts WHERE email = $1
              AND NOT EXISTS (SELECT 1 FROM two_factor WHERE user_id = $2 AND enabled)`,
        params: [email, userId],
      },
      accounts.setPassword(userId, passwordHash),
      {
        sql: `UPDATE password_resets SET used_at = $1 WHERE token_hash = $2 AND used_at IS NULL AND expires_at > $1
              RETURNING user_id`,
        params: [clock.nowSeconds(), tokenHash],
        decides: true,
      },
      sessions.revokeAll(userId),
      voidResets(userId),
      audit.entry({ event: 'password_reset', outcome: 'success', userId, actorId: userId, client: given.client }),
    )
    if (!used || used.length === 0) throw authErrors.invalidResetToken()
    audit.count('password_reset', 'success')
    await onAccessChanged(userId)
  }

  function voidResets(userId: number): Statement {
    return {
      sql: 'UPDATE password_resets SET used_at = $1 WHERE user_id = $2 AND used_at IS NULL',
      params: [clock.nowSeconds(), userId],
    }
  }

  return {
    canMail: mail !== undefined,
    delivery: mail?.delivery ?? ('none' as const),
    isResetValid,
    change,
    forgot,
    reset,
    /** Waits for the mails that are on their way, but not for ever. */
    async close() {
      await withTimeout(Promise.all(underWay), maxCloseMs).catch(() =>
        log.warn('a mail was still on its way and is given up'),
      )
    },
  }
}

export type PasswordService = ReturnType<typeof createPasswordService>

function hashToken(token: string): string {
  return hash('sha256', token, 'base64url')
}
