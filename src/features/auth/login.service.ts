/** Login with a password, and with a second factor if enabled. */
import { normaliseEmail } from '../../core/email.ts'
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import { type Attempt, createLoginAttempts, type LoginAttemptsDeps } from './login-attempts.ts'
import { type Challenge, createLoginChallenges, type LoginChallengesDeps } from './login-challenges.ts'
import { createLoginCompletion, type LoginCompletionDeps, type SignedIn } from './login-completion.ts'

export type LoginOutcome = ({ kind: 'signed_in' } & SignedIn) | Challenge

export type LoginDeps = LoginAttemptsDeps & LoginCompletionDeps & Omit<LoginChallengesDeps, 'attempts' | 'complete'>

export function createLogin(deps: LoginDeps) {
  const { random, accounts, passwords } = deps
  const attempts = createLoginAttempts(deps)
  const complete = createLoginCompletion(deps)
  const challenges = createLoginChallenges({ ...deps, attempts, complete })

  async function login(given: { email: string; password: string; client: Client }): Promise<LoginOutcome> {
    const email = normaliseEmail(given.email)
    const { client } = given
    const account = await accounts.findByEmail(email)
    const attempt: Attempt = { email, event: 'login', userId: account?.id ?? null, actorId: null, client }
    await attempts.requireOpen(attempt)
    const isRight = await passwords.verify({ password: given.password, hash: account?.password_hash, client })
    if (!account || !isRight) {
      throw await attempts.refuse(attempt, authErrors.invalidCredentials())
    }
    const also = passwords.isOutdated(account.password_hash)
      ? [accounts.rehash(account.id, account.password_hash, await passwords.hash(given.password, client))]
      : []
    if (account.two_factor) return challenges.begin(account, client, also)

    const before = [accounts.stillHasVersionAlone(account.id, account.token_version)]
    const signedIn = await complete(account, { family: random.id(), event: 'login', client, before, also })
    if (signedIn) return { kind: 'signed_in', ...signedIn }
    await attempts.requireOpen(attempt)
    const now = await accounts.findById(account.id)
    // The second factor was enabled while the password was checked.
    if (now?.two_factor && now.token_version === account.token_version) return challenges.begin(now, client, [])
    // The password was changed in the meantime.
    throw authErrors.invalidCredentials()
  }

  const { confirmPassword, refuseCode, requireOpen } = attempts
  return { login, verify: challenges.verify, confirmPassword, refuseCode, requireOpen }
}

export type Login = ReturnType<typeof createLogin>
