/** Sets up, enables and disables the second factor, and renews recovery codes. */
import { hash } from 'node:crypto'
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import { credentialErrors } from '../../core/credential-errors.ts'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { CodeCheck } from './code-check.ts'
import { createRecoveryCodes, createSecret, hashRecoveryCode, otpauthUrl } from './codes.ts'
import type { TwoFactorRow, TwoFactorStore } from './two-factor.store.ts'

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
  /** The password is asked for again, and every wrong guess counts. */
  login: Pick<AuthService['login'], 'confirmPassword' | 'refuseCode' | 'requireOpen' | 'requireOpenSession'>
  encryption: Encryption
  /** The name that apps show. */
  issuer: string
  /** Deciding statement: the confirmed password is still the current one. Locks the user's row. */
  stillHasVersion(userId: number, version: number): Statement
  audit: Audit
}

interface Actor {
  principal: Pick<Principal, 'id' | 'session'>
  client: Client
}

type Attempt = Parameters<TwoFactorDeps['login']['refuseCode']>[0]

interface Enabling {
  userId: number
  version: number
  client: Client
  code: string
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
  const { db, clock, random, store, codes, login, encryption, stillHasVersion, audit } = deps

  async function setUp({ principal, client, password }: Actor & { password: string }) {
    const event = '2fa_setup'
    const { account, attempt, guards } = await login.confirmPassword({ principal, password, event, client })
    const { id: userId, email } = account
    const secret = createSecret(random)
    const ticket = encryption.encrypt(secret)
    const [passed] = await db.write(
      ...guards,
      store.prepare(userId, ticket, clock.nowSeconds()),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    )
    if (!passed?.length) {
      await login.requireOpen(attempt)
      throw alreadyEnabled()
    }
    return { secret, otpauth_url: otpauthUrl({ secret, email, issuer: deps.issuer }), ticket }
  }

  /**
   * Shows the secret again. Requires the ticket, which only `setUp` returns: a stolen session alone must not reveal the
   * secret. Returns undefined if that secret is no longer pending.
   */
  async function showAgain({ userId, email, ticket }: { userId: number; email: string; ticket: string }) {
    const row = await store.find(userId)
    if (!isWaiting(row) || hash('sha256', row.secret) !== hash('sha256', ticket)) return undefined
    const secret = codes.open(row.secret)?.text
    return secret === undefined
      ? undefined
      : { secret, otpauth_url: otpauthUrl({ secret, email, issuer: deps.issuer }), ticket }
  }

  function isWaiting(row: TwoFactorRow | undefined): row is TwoFactorRow {
    return row !== undefined && !row.enabled && clock.nowSeconds() - row.set_up_at <= maxSetUpSeconds
  }

  /** A wrong code here is a slip of the fingers: whoever is here has the secret on the screen. */
  async function enable({ userId, version, client, code }: Enabling): Promise<string[]> {
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
  const { db, random, store, codes, login, audit } = deps

  /** Password and code are both right and the code is used up, or nothing happens. */
  async function change(event: AuditEvent, { principal, client, password, code }: Change, statements: Statement[]) {
    const { id: userId } = principal
    await login.requireOpenSession({ principal, event, client })
    await requireEnabled(userId)
    const { attempt, guards } = await login.confirmPassword({ principal, password, event, client })
    if (code.trim() === '') throw credentialErrors.invalidCode()
    const use = await codes.findUse(userId, code)
    if (!use) throw await refuseCode(userId, attempt)
    const entry = audit.entry({ event, outcome: 'success', userId, actorId: userId, client })
    const [passed] = await db.write(...guards, ...use, ...statements, entry)
    if (passed?.length) return
    await login.requireOpen(attempt)
    throw await refuseCode(userId, attempt)
  }

  /** Without a second factor, a code is not a failed attempt. */
  async function requireEnabled(userId: number): Promise<void> {
    if (!(await store.find(userId))?.enabled) throw notEnabled()
  }

  /** It may have been turned off meanwhile. */
  async function refuseCode(userId: number, attempt: Attempt): Promise<Error> {
    await requireEnabled(userId)
    return login.refuseCode(attempt)
  }

  async function disable(given: Change): Promise<void> {
    await change('2fa_disable', given, [
      store.disable(given.principal.id),
      ...store.replaceRecoveryCodes(given.principal.id, []),
    ])
  }

  async function renewRecoveryCodes(given: Change): Promise<string[]> {
    const renewed = createRecoveryCodes(random)
    const hashes = renewed.map(hashRecoveryCode)
    await change('2fa_recovery_codes', given, store.replaceRecoveryCodes(given.principal.id, hashes))
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
