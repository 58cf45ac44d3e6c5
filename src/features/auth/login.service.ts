/** Signing in: a password, and a second factor where the user has one. */
import type { Clock } from '../../core/clock.ts'
import { normaliseEmail } from '../../core/email.ts'
import type { Random } from '../../core/random.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { SingleUseIds } from '../../platform/database/single-use-ids.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { Account, AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { Lockout } from './lockout.ts'
import type { SecondFactor } from './second-factor.ts'
import type { SessionStore } from './sessions.store.ts'
import type { TokenPair, TokenPairs } from './token-pairs.ts'
import type { Tokens } from './tokens.ts'

/** A new token family, by what its tokens say and by what stands behind them. */
export interface SignedIn {
  pair: TokenPair
  family: string
  version: number
}

export type LoginOutcome = ({ kind: 'signed_in' } & SignedIn) | { kind: 'second_factor'; challengeToken: string }

/** To sign in, or to confirm a password or a code. */
export interface Attempt {
  email: string
  event: AuditEvent
  /** Null where nobody has the email. */
  userId: number | null
  /** Whose session it comes from; null where it comes from none. */
  actorId: number | null
  client: Client
}

export interface LoginDeps {
  db: Database
  clock: Clock
  random: Random
  accounts: AccountStore
  sessions: SessionStore
  lockout: Lockout
  passwords: Passwords
  tokens: Tokens
  pairs: TokenPairs
  audit: Audit
  secondFactor: SecondFactor
  singleUseIds: SingleUseIds
  challengeTtlSeconds: number
}

export function createLogin(deps: LoginDeps) {
  const {
    db,
    clock,
    random,
    accounts,
    sessions,
    lockout,
    passwords,
    tokens,
    pairs,
    audit,
    secondFactor,
    singleUseIds,
  } = deps

  async function login(given: { email: string; password: string; client: Client }): Promise<LoginOutcome> {
    const email = normaliseEmail(given.email)
    const { client } = given
    const account = await accounts.findByEmail(email)
    const attempt: Attempt = { email, event: 'login', userId: account?.id ?? null, actorId: null, client }
    await requireOpen(attempt)
    const isRight = await passwords.verify({ password: given.password, hash: account?.password_hash, client })
    if (!account || !isRight) {
      throw await refuse(attempt, authErrors.invalidCredentials())
    }
    const also = passwords.isOutdated(account.password_hash)
      ? [accounts.rehash(account.id, account.password_hash, await passwords.hash(given.password, client))]
      : []
    if (account.two_factor) return challenge(account, client, also)

    const before = [accounts.stillHasVersionAlone(account.id, account.token_version)]
    const signedIn = await complete(account, { family: random.id(), event: 'login', client, before, also })
    if (signedIn) return { kind: 'signed_in', ...signedIn }
    await requireOpen(attempt)
    const now = await accounts.findById(account.id)
    // The second factor was turned on while the password was checked.
    if (now?.two_factor && now.token_version === account.token_version) return challenge(now, client, [])
    // The password was changed meanwhile.
    throw authErrors.invalidCredentials()
  }

  /** The right password alone clears no failure, and tells nobody anything once the account is locked. */
  async function challenge(account: Account, client: Client, also: Statement[]): Promise<LoginOutcome> {
    const attempt: Attempt = { email: account.email, event: 'login', userId: account.id, actorId: null, client }
    const outcome = 'second_factor_required'
    const [passed] = await db.write(lockout.passes(account.email), ...also, audit.entry({ ...attempt, outcome }))
    if (!passed?.length) await requireOpen(attempt)
    audit.count('login', outcome)
    const now = clock.nowSeconds()
    const challengeToken = tokens.sign({
      sub: String(account.id),
      ver: account.token_version,
      type: '2fa_challenge',
      jti: random.id(),
      // The family of the session that it may become.
      family: random.id(),
      iat: now,
      exp: now + deps.challengeTtlSeconds,
    })
    return { kind: 'second_factor', challengeToken }
  }

  async function verify(given: { challengeToken: string; code: string; client: Client }): Promise<SignedIn> {
    const { client } = given
    const claims = tokens.readLive(given.challengeToken, '2fa_challenge')
    const account = claims && (await accounts.findById(Number(claims.sub)))
    if (!account?.two_factor || account.token_version !== claims?.ver || (await singleUseIds.isUsed(nameOf(claims)))) {
      throw authErrors.invalidChallenge()
    }
    const event = '2fa_verify' as const
    const attempt: Attempt = { email: account.email, event, userId: account.id, actorId: null, client }
    await requireOpen(attempt)
    // A form that was sent too early guesses nothing.
    if (given.code.trim() === '') throw authErrors.invalidCode()
    const use = await secondFactor.findUse(account.id, given.code)
    if (!use) throw await refuseCode(attempt)

    // The challenge and the code are burned in the batch that makes the session: of any number of racers one wins.
    const before = [
      accounts.stillHasVersion(account.id, account.token_version),
      singleUseIds.use(nameOf(claims), claims.exp),
      ...use,
    ]
    const completion = { family: claims.family, event, client, before, also: [] }
    const signedIn = await complete(account, completion)
    if (signedIn) return signedIn
    await requireOpen(attempt)
    if (await singleUseIds.isUsed(nameOf(claims))) throw authErrors.invalidChallenge()
    throw await refuseCode(attempt)
  }

  interface Completion {
    family: string
    event: AuditEvent
    client: Client
    /** Statements that must all find their row. */
    before: Statement[]
    also: Statement[]
  }

  /** Returns undefined where the account was locked or changed meanwhile, or what `before` asks for was not there. */
  async function complete(account: Account, completion: Completion): Promise<SignedIn | undefined> {
    const { family, event, client, before, also } = completion
    const endsAt = pairs.familyEnd()
    const pair = pairs.make(account, family, endsAt)
    const [passes, forget] = lockout.clears(account.email)
    const [passed] = await db.write(
      passes,
      ...before,
      sessions.insert(pair, endsAt, client),
      forget,
      ...also,
      audit.entry({ event, outcome: 'success', userId: account.id, actorId: account.id, client }),
    )
    if (!passed?.length) return undefined
    audit.count(event, 'success')
    return { pair: pairs.sign(pair), family, version: pair.version }
  }

  async function requireOpen({ email, ...attempt }: Attempt): Promise<void> {
    try {
      await lockout.requireOpen(email)
    } catch (locked) {
      await db.write(audit.entry({ ...attempt, outcome: 'locked' }))
      audit.count(attempt.event, 'locked')
      throw locked
    }
  }

  /** Counts a failure and answers what to say of it: the attempt that locks the account says so itself. */
  async function refuse({ email, ...attempt }: Attempt, otherwise: Error): Promise<Error> {
    const { lockedUntil, hasLocked } = await lockout.countFailure(email)
    const outcome = lockedUntil === undefined ? 'failure' : 'locked'
    await db.write(
      audit.entry({ ...attempt, outcome }),
      ...(hasLocked ? [audit.entry({ ...attempt, event: 'lock', outcome: 'success', actorId: null })] : []),
    )
    audit.count(attempt.event, outcome)
    if (hasLocked) audit.count('lock', 'success')
    return lockedUntil === undefined ? otherwise : authErrors.locked(lockedUntil)
  }

  const refuseCode = (attempt: Attempt) => refuse(attempt, authErrors.invalidCode())

  /**
   * For endpoints of signed-in users that ask for the password again. What they do then must begin with
   * `lockout.passes`: the account may have been locked while the password was checked.
   */
  async function confirmPassword(given: {
    userId: number
    password: string
    event: AuditEvent
    client: Client
  }): Promise<Account> {
    const account = await accounts.findById(given.userId)
    if (!account) throw authErrors.invalidCredentials()
    const attempt: Attempt = {
      email: account.email,
      event: given.event,
      userId: account.id,
      actorId: account.id,
      client: given.client,
    }
    await requireOpen(attempt)
    const { password, client } = given
    if (!(await passwords.verify({ password, hash: account.password_hash, client }))) {
      throw await refuse(attempt, authErrors.invalidCredentials())
    }
    return account
  }

  return { login, verify, confirmPassword, refuseCode, requireOpen }
}

export type Login = ReturnType<typeof createLogin>

/** What a challenge is called once it is used. */
function nameOf({ jti }: { jti: string }): string {
  return `challenge ${jti}`
}
