/** Two-factor logins: a challenge for the right password, then a session for the challenge and a code. */
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { SingleUseIds } from '../../platform/database/single-use-ids.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Account, AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { Lockout } from './lockout.ts'
import type { Attempt, LoginAttempts } from './login-attempts.ts'
import type { CompleteLogin, SignedIn } from './login-completion.ts'
import type { SecondFactor } from './second-factor.ts'
import type { Tokens } from './tokens.ts'

export interface Challenge {
  kind: 'second_factor'
  challengeToken: string
}

interface Beginning {
  account: Account
  attempt: Attempt
  /** Statements for the same batch. */
  also: Statement[]
}

interface Verification {
  challengeToken: string
  code: string
  deviceToken: string | undefined
  client: Client
}

export interface LoginChallengesDeps {
  db: Database
  clock: Clock
  random: Random
  accounts: AccountStore
  lockout: Lockout
  tokens: Tokens
  audit: Audit
  secondFactor: SecondFactor
  singleUseIds: SingleUseIds
  challengeTtlSeconds: number
  attempts: LoginAttempts
  complete: CompleteLogin
}

export function createLoginChallenges(deps: LoginChallengesDeps) {
  const { db, clock, random, accounts, lockout, tokens, audit, secondFactor, singleUseIds, attempts, complete } = deps

  /** The right password alone clears no failure, and tells nobody anything once its subject is locked. */
  async function begin({ account, attempt, also }: Beginning): Promise<Challenge> {
    const outcome = 'second_factor_required'
    const { subject, ...entry } = attempt
    const [passed] = await db.write(lockout.passes(subject), ...also, audit.entry({ ...entry, outcome }))
    if (!passed?.length) await attempts.requireOpen(attempt)
    audit.count('login', outcome)
    const now = clock.nowSeconds()
    const challengeToken = tokens.sign({
      sub: String(account.id),
      ver: account.token_version,
      type: '2fa_challenge',
      jti: random.id(),
      // The family of the future session.
      family: random.id(),
      iat: now,
      exp: now + deps.challengeTtlSeconds,
    })
    return { kind: 'second_factor', challengeToken }
  }

  async function verify(given: Verification): Promise<SignedIn> {
    const { deviceToken, client } = given
    const claims = tokens.readLive(given.challengeToken, '2fa_challenge')
    const account = claims && (await accounts.findById(Number(claims.sub)))
    if (!account?.two_factor || account.token_version !== claims?.ver || (await singleUseIds.isUsed(nameOf(claims)))) {
      throw authErrors.invalidChallenge()
    }
    const event = '2fa_verify' as const
    const origin = await attempts.findOrigin({ email: account.email, account, deviceToken })
    const attempt: Attempt = { subject: origin.subject, event, userId: account.id, actorId: null, client }
    await attempts.requireOpen(attempt)
    // An empty code is not counted as a guess.
    if (given.code.trim() === '') throw authErrors.invalidCode()
    const use = await secondFactor.findUse(account.id, given.code)
    if (!use) throw await attempts.refuseCode(attempt)
    // An administrator may have changed the address since the password was checked.
    await attempts.requireVerified(account, attempt)

    // Challenge and code are consumed in the batch that creates the session, so only one of any number of racers wins.
    const before = [
      accounts.stillHasVersion(account.id, account.token_version),
      singleUseIds.use(nameOf(claims), claims.exp),
      ...use,
    ]
    const completion = { ...origin, family: claims.family, event, client, before, also: [] }
    const signedIn = await complete(account, completion)
    if (signedIn) return signedIn
    await attempts.requireOpen(attempt)
    if (await singleUseIds.isUsed(nameOf(claims))) throw authErrors.invalidChallenge()
    throw await attempts.refuseCode(attempt)
  }

  return { begin, verify }
}

/** Its single-use id. */
function nameOf({ jti }: { jti: string }): string {
  return `challenge ${jti}`
}
