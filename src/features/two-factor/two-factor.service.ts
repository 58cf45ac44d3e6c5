/** Setting a second factor up, using it, and getting rid of it. */
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Database, Param, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { validationFailed } from '../../platform/http/validation.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { createRecoveryCodes, createSecret, findStep, hashRecoveryCode, otpauthUrl } from './codes.ts'
import type { TwoFactorStore } from './two-factor.store.ts'

/** What this feature needs of signing in: the password is asked for again, and every wrong guess counts. */
export interface Accounts {
  confirmPassword(given: {
    userId: number
    password: string
    event: string
    client: Client
  }): Promise<{ email: string }>
  refuse(attempt: { email: string; event: string; userId: number; client: Client }, otherwise: Error): Promise<Error>
  requireOpen(email: string, event: string, client: Client): Promise<void>
}

export interface TwoFactorDeps {
  db: Database
  clock: Clock
  random: Random
  store: TwoFactorStore
  encryption: Encryption
  /** Begins every batch: decides that nothing happens where the account is locked by then. */
  passesLock(email: string): Statement
  audit: { entry(entry: { event: string; outcome: string; userId: Param; client: Client }): Statement }
}

interface Actor {
  userId: number
  client: Client
}

export function createTwoFactor({ db, clock, random, store, encryption, passesLock, audit }: TwoFactorDeps) {
  /** Answers the statement that uses a right code up; undefined for a wrong one. */
  async function findUse(userId: number, given: string): Promise<Statement | undefined> {
    const row = await store.find(userId)
    if (!row?.enabled) return undefined
    const code = given.replace(/\s/g, '')
    const { text: secret, isOutdated } = encryption.decrypt(row.secret)
    const step = findStep(secret, code, clock.now())
    if (step !== undefined && step > row.last_step) {
      return store.useStep(userId, step, isOutdated ? encryption.encrypt(secret) : row.secret)
    }
    const codeHash = hashRecoveryCode(code)
    return (await store.hasRecoveryCode(userId, codeHash)) ? store.useRecoveryCode(userId, codeHash) : undefined
  }

  function manage(accounts: Accounts) {
    async function status(userId: number) {
      const row = await store.find(userId)
      const enabled = row?.enabled ?? false
      return { enabled, recovery_codes_left: enabled ? await store.countRecoveryCodes(userId) : 0 }
    }

    async function setUp({ userId, client, password }: Actor & { password: string }) {
      const event = '2fa_setup'
      const { email } = await accounts.confirmPassword({ userId, password, event, client })
      const secret = createSecret(random)
      const [passed] = await db.write(
        passesLock(email),
        store.prepare(userId, encryption.encrypt(secret)),
        audit.entry({ event, outcome: 'success', userId, client }),
      )
      if (!passed?.length) {
        await accounts.requireOpen(email, event, client)
        throw alreadyEnabled()
      }
      return { secret, otpauth_url: otpauthUrl(secret, email) }
    }

    /** A wrong code here is a slip of the fingers: whoever is here has the secret on the screen. */
    async function enable({ userId, client, code }: Actor & { code: string }): Promise<string[]> {
      const row = await store.find(userId)
      if (row?.enabled) throw alreadyEnabled()
      const secret = row && encryption.decrypt(row.secret).text
      const step = secret === undefined ? undefined : findStep(secret, code.replace(/\s/g, ''), clock.now())
      if (!row || step === undefined) throw validationFailed({ code: ['Invalid two-factor code'] })
      const codes = createRecoveryCodes(random)
      const [enabled] = await db.write(
        store.enable(userId, row.secret, step),
        ...store.replaceRecoveryCodes(userId, codes.map(hashRecoveryCode)),
        audit.entry({ event: '2fa_enable', outcome: 'success', userId, client }),
      )
      if (!enabled?.length) throw alreadyEnabled()
      return codes
    }

    type Confirmed = Actor & { password: string; code: string }

    /** Password and code are both right and the code is used up, or nothing happens. */
    async function change(event: string, { userId, client, password, code }: Confirmed, statements: Statement[]) {
      const { email } = await accounts.confirmPassword({ userId, password, event, client })
      const attempt = { email, event, userId, client }
      const use = await findUse(userId, code)
      if (!use) throw await accounts.refuse(attempt, invalidCode())
      const entry = audit.entry({ event, outcome: 'success', userId, client })
      const [passed] = await db.write(passesLock(email), use, ...statements, entry)
      if (passed?.length) return
      await accounts.requireOpen(email, event, client)
      throw await accounts.refuse(attempt, invalidCode())
    }

    async function disable(given: Confirmed): Promise<void> {
      await change('2fa_disable', given, [store.disable(given.userId), ...store.replaceRecoveryCodes(given.userId, [])])
    }

    async function renewRecoveryCodes(given: Confirmed): Promise<string[]> {
      const codes = createRecoveryCodes(random)
      await change('2fa_recovery_codes', given, store.replaceRecoveryCodes(given.userId, codes.map(hashRecoveryCode)))
      return codes
    }

    return { status, setUp, enable, disable, renewRecoveryCodes }
  }

  return { findUse, manage }
}

export type TwoFactor = ReturnType<ReturnType<typeof createTwoFactor>['manage']>

function alreadyEnabled(): AppError {
  return new AppError(409, 'Two-factor already enabled')
}

function invalidCode(): AppError {
  return new AppError(401, 'Invalid two-factor code')
}
