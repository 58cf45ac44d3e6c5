/** Login with a password, and with a second factor if enabled. */
import { normaliseEmail } from '../../core/email.ts'
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import { type Attempt, createLoginAttempts, type LoginAttemptsDeps } from './login-attempts.ts'
import { type Challenge, createLoginChallenges, type LoginChallengesDeps } from './login-challenges.ts'
import { createLoginCompletion, type LoginCompletionDeps, type SignedIn } from './login-completion.ts'
import { createOwnerProof } from './owner-proof.ts'
import { createProvenLogin } from './proven-login.ts'

export type LoginOutcome = ({ kind: 'signed_in' } & SignedIn) | Challenge

export interface Given {
  email: string
  password: string
  /** What the client got when it completed a login before. */
  deviceToken: string | undefined
  client: Client
}

export type LoginDeps = LoginAttemptsDeps & LoginCompletionDeps & Omit<LoginChallengesDeps, 'attempts' | 'complete'>

export function createLogin(deps: LoginDeps) {
  const { random, accounts, passwords } = deps
  const attempts = createLoginAttempts(deps)
  const complete = createLoginCompletion(deps)
  const challenges = createLoginChallenges({ ...deps, attempts, complete })

  async function login(given: Given): Promise<LoginOutcome> {
    const email = normaliseEmail(given.email)
    const { deviceToken, client } = given
    const account = await accounts.findByEmail(email)
    const origin = await attempts.findOrigin({ email, account, deviceToken })
    const attempt: Attempt = {
      subject: origin.subject,
      event: 'login',
      userId: account?.id ?? null,
      actorId: null,
      client,
    }
    await attempts.requireOpen(attempt)
    const isRight = await passwords.verify({
      password: given.password,
      hash: account?.password_hash || undefined,
      client,
    })
    if (!account || !isRight || account.disabled_at !== null) {
      throw await attempts.refuse(attempt, authErrors.invalidCredentials())
    }
    const also = passwords.isOutdated(account.password_hash)
      ? [accounts.rehash(account.id, account.password_hash, await passwords.hash(given.password, client))]
      : []
    await attempts.requireVerified(account, attempt)
    if (account.two_factor) return challenges.begin({ account, attempt, also })

    const before = [accounts.stillHasVersionAlone(account.id, account.token_version)]
    const signedIn = await complete(account, {
      ...origin,
      family: random.id(),
      event: 'login',
      client,
      before,
      also,
    })
    if (signedIn) return { kind: 'signed_in', ...signedIn }
    await attempts.requireOpen(attempt)
    const now = await accounts.findById(account.id)
    // The second factor was turned on while the password was checked.
    if (now?.two_factor && now.token_version === account.token_version) {
      return challenges.begin({ account: now, attempt, also: [] })
    }
    // The password was changed meanwhile.
    throw authErrors.invalidCredentials()
  }

  const { confirmPassword, findOrigin, refuseCode, requireOpen, requireOpenSession } = attempts
  const completeProven = createProvenLogin({ ...deps, attempts, complete })
  return {
    login,
    verify: challenges.verify,
    complete,
    completeProven,
    confirmOwner: createOwnerProof({ ...deps, attempts }),
    confirmPassword,
    findOrigin,
    refuseCode,
    requireOpen,
    requireOpenSession,
  }
}

export type Login = ReturnType<typeof createLogin>
