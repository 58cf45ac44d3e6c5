/** Sets up, enables and disables the second factor, and renews recovery codes. */
import { hash } from 'node:crypto'
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import { credentialErrors } from '../../core/credential-errors.ts'
import type { Random } from '../../core/random.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import type { CodeCheck } from './code-check.ts'
import { createRecoveryCodes, createSecret, hashRecoveryCode, otpauthUrl } from './codes.ts'
import type { TwoFactorRow, TwoFactorStore } from './two-factor.store.ts'

export interface Confirmed {
  email: string
  token_version: number
}

/** From the auth feature: confirms the password again, and counts wrong guesses. */
export interface LoginChecks {
  confirmPassword(given: { userId: number; password: string; event: AuditEvent; client: Client }): Promise<Confirmed>
  refuseCode(attempt: Attempt): Promise<Error>
  requireOpen(attempt: Attempt): Promise<void>
}

interface Attempt {
  email: string
  event: AuditEvent
  userId: number
  actorId: number
  client: Client
}

export interface TwoFactorStatus {
  enabled: boolean
  recovery_codes_left: number
}

/** A secret that is not confirmed by a code yet. */
export interface PendingTwoFactor {
  secret: string
  otpauth_url: string
  /** Allows to show the secret again. */
  ticket: string
}

export interface TwoFactorDeps {
  db: Database
  clock: Clock
  random: Random
  store: TwoFactorStore
  codes: CodeCheck
  login: LoginChecks
  encryption: Encryption
  /** First statement of every batch: rolls it back if the account has been locked in the meantime. */
  passesLock(email: string): Statement
  /** Deciding statement: the confirmed password has not changed. Locks the user's row. */
  stillHasVersion(userId: number, version: number): Statement
  audit: Audit
}

interface Actor {
  userId: number
  client: Client
}

type Change = Actor & { password: string; code: string }

/** An unconfirmed secret expires after this. */
const maxSetUpSeconds = 3600

export function createTwoFactor(deps: TwoFactorDeps) {
  const { store } = deps

  async function status(userId: number): Promise<TwoFactorStatus> {
    const row = await store.find(userId)
    const enabled = row?.enabled ?? false
    return { enabled, recovery_codes_left: enabled ? await store.countRecoveryCodes(userId) : 0 }
  }

  return { status, ...createSetUp(deps), ...createChanges(deps) }
}

export type TwoFactor = ReturnType<typeof createTwoFactor>

function createSetUp(deps: TwoFactorDeps) {
  const { db, clock, random, store, codes, login, encryption, passesLock, stillHasVersion, audit } = deps

  async function setUp({ userId, client, password }: Actor & { password: string }) {
    const event = '2fa_setup'
    const { email, token_version } = await login.confirmPassword({ userId, password, event, client })
    const secret = createSecret(random)
    const ticket = encryption.encrypt(secret)
    const [passed] = await db.write(
      passesLock(email),
      stillHasVersion(userId, token_version),
      store.prepare(userId, ticket, clock.nowSeconds()),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    )
    if (!passed?.length) {
      await login.requireOpen({ email, event, userId, actorId: userId, client })
      throw alreadyEnabled()
    }
    return { secret, otpauth_url: otpauthUrl(secret, email), ticket }
  }

  /**
   * Shows the secret again. Requires the ticket, which only `setUp` returns: a stolen session alone must not reveal the
   * secret. Returns undefined if that secret is no longer pending.
   */
  async function showAgain({ userId, email, ticket }: { userId: number; email: string; ticket: string }) {
    const row = await store.find(userId)
    if (!isWaiting(row) || hash('sha256', row.secret) !== hash('sha256', ticket)) return undefined
    const secret = codes.open(row.secret)?.text
    return secret === undefined ? undefined : { secret, otpauth_url: otpauthUrl(secret, email), ticket }
  }

  function isWaiting(row: TwoFactorRow | undefined): row is TwoFactorRow {
    return row !== undefined && !row.enabled && clock.nowSeconds() - row.set_up_at <= maxSetUpSeconds
  }

  /** A wrong code is not counted as a failed attempt, because the user has just been shown the secret. */
  async function enable({
    userId,
    version,
    client,
    code,
  }: Actor & { version: number; code: string }): Promise<string[]> {
    const row = await store.find(userId)
    if (row?.enabled) throw alreadyEnabled()
    const secret = isWaiting(row) ? codes.open(row.secret)?.text : undefined
    const step = secret === undefined ? undefined : codes.findCodeStep(userId, secret, code)
    if (!row || !step) throw validationFailed({ code: ['Invalid two-factor code'] })
    const recoveryCodes = createRecoveryCodes(random)
    const [enabled] = await db.write(
      // Locks the user's row, as a login does, so that neither misses the other.
      stillHasVersion(userId, version),
      store.enable(userId, row.secret),
      step.use,
      ...store.replaceRecoveryCodes(userId, recoveryCodes.map(hashRecoveryCode)),
      audit.entry({ event: '2fa_enable', outcome: 'success', userId, actorId: userId, client }),
    )
    if (!enabled?.length) throw alreadyEnabled()
    return recoveryCodes
  }

  return { setUp, showAgain, enable }
}

/** Changes that require the password and a code. */
function createChanges(deps: TwoFactorDeps) {
  const { db, random, store, codes, login, passesLock, stillHasVersion, audit } = deps

  /** Consumes the code and runs the statements only if both the password and the code are right. */
  async function change(event: AuditEvent, { userId, client, password, code }: Change, statements: Statement[]) {
    await requireEnabled(userId)
    const { email, token_version } = await login.confirmPassword({ userId, password, event, client })
    const attempt = { email, event, userId, actorId: userId, client }
    if (code.trim() === '') throw credentialErrors.invalidCode()
    const use = await codes.findUse(userId, code)
    if (!use) throw await refuseCode(attempt)
    const entry = audit.entry({ event, outcome: 'success', userId, actorId: userId, client })
    const [passed] = await db.write(
      passesLock(email),
      stillHasVersion(userId, token_version),
      ...use,
      ...statements,
      entry,
    )
    if (passed?.length) return
    await login.requireOpen(attempt)
    throw await refuseCode(attempt)
  }

  /** Without a second factor, a code is not a failed attempt. */
  async function requireEnabled(userId: number): Promise<void> {
    if (!(await store.find(userId))?.enabled) throw notEnabled()
  }

  /** The second factor may have been disabled in the meantime. */
  async function refuseCode(attempt: Attempt): Promise<Error> {
    await requireEnabled(attempt.userId)
    return login.refuseCode(attempt)
  }

  async function disable(given: Change): Promise<void> {
    await change('2fa_disable', given, [store.disable(given.userId), ...store.replaceRecoveryCodes(given.userId, [])])
  }

  async function renewRecoveryCodes(given: Change): Promise<string[]> {
    const renewed = createRecoveryCodes(random)
    await change('2fa_recovery_codes', given, store.replaceRecoveryCodes(given.userId, renewed.map(hashRecoveryCode)))
    return renewed
  }

  return { disable, renewRecoveryCodes }
}

export function notEnabled(): AppError {
  return new AppError(409, 'Two-factor not enabled')
}

export function alreadyEnabled(): AppError {
  return new AppError(409, 'Two-factor already enabled')
}
