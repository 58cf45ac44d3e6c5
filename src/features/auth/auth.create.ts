import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { UsersService } from '../users/users.create.ts'
import { createAccountStore } from './accounts.store.ts'
import { type AuthConfig, readSigningKeys } from './auth.keys.ts'
import { createAuthCounters } from './auth-counters.ts'
import { createAuthenticator } from './authenticator.ts'
import { createBrowserAccess } from './browser-access.ts'
import { createBrowserSignIn } from './browser-sign-in.ts'
import { createCredentials } from './credentials.ts'
import { deviceTokenOf, withDeviceToken } from './device-token-header.ts'
import { createEndedSessionStore } from './ended-sessions.store.ts'
import { createKnownDevicesSlot } from './known-devices.ts'
import { createLockout } from './lockout.ts'
import { createLogin } from './login.service.ts'
import { createMailedTokens } from './mailed-tokens.store.ts'
import { createMailsPerAddress } from './mails-per-address.ts'
import { createPasswordService } from './password.service.ts'
import { createPrincipalStore } from './principals.store.ts'
import { createProgramKeysSlot } from './program-keys.ts'
import { createRefresh } from './refresh.service.ts'
import { createSecondFactorSlot } from './second-factor.ts'
import { createSessions } from './sessions.service.ts'
import { createSessionStore } from './sessions.store.ts'
import { createSigningKeys } from './signing-keys.ts'
import { createTokenPairs } from './token-pairs.ts'
import { createTokens } from './tokens.ts'
import { createVerification } from './verification.service.ts'
import { createWebSessionStore } from './web-sessions.store.ts'
import { createWebSessions } from './web-sessions.ts'

export type AuthService = Awaited<ReturnType<typeof createAuthService>>

export async function createAuthService(
  infrastructure: Infrastructure<AuthConfig>,
  { users }: { users: UsersService },
) {
  const { config, log, clock, random, db, audit, secrets, singleUseIds, onAccessChanged } = infrastructure
  const { jwt, auth } = config
  if (infrastructure.metrics) audit.onCount(createAuthCounters(infrastructure.metrics))
  const signing = readSigningKeys(config)
  const keys = createSigningKeys({
    ...jwt,
    secret: secrets.signing,
    privateKeys: 'keys' in signing ? signing.keys : [],
  })
  const tokens = createTokens({ ...jwt, keys, clock })
  const pairs = createTokenPairs({ ...jwt, tokens, clock, random })
  const accounts = createAccountStore({ db, clock })
  const sessionStore = createSessionStore({ db, clock })
  const endedSessions = createEndedSessionStore({ db, clock })
  const lockout = createLockout({ db, clock, attempts: auth.lockoutAttempts, seconds: auth.lockoutSeconds })
  const secondFactor = createSecondFactorSlot()
  const devices = createKnownDevicesSlot()
  const programKeys = createProgramKeysSlot()
  const shared = {
    db,
    clock,
    random,
    log,
    accounts,
    sessions: sessionStore,
    endedSessions,
    lockout,
    devices,
    passwords: users.passwords,
    tokens,
    pairs,
    audit,
    onAccessChanged,
  }
  const mailing = createMailing(infrastructure)
  const forMail = { ...shared, ...mailing, requireImpersonal: users.requireImpersonal, userChanges: users.changes }
  // Each needs the other: a login may mail a link, and a link is confirmed with the password.
  const verification = createVerification({ ...forMail, confirmOwner: (given) => login.confirmOwner(given) })
  const login = createLogin({
    ...shared,
    requestVerification: auth.verifyEmail ? verification.request : undefined,
    secondFactor,
    singleUseIds,
    challengeTtlSeconds: auth.challengeTtlSeconds,
  })
  const credentials = createCredentials()
  const passwords = createPasswordService({ ...forMail, credentials, login })
  const sessions = createSessions(shared)
  const webSessions = createWebSessions({
    store: createWebSessionStore({ db, clock }),
    endedSessions,
    clock,
    random,
    createUser: users.createUser,
    ttlSeconds: jwt.refreshTtlSeconds,
  })

  return {
    authenticate: createAuthenticator({
      principals: createPrincipalStore(db),
      tokens,
      programKeys,
      createUser: users.createUser,
    }),
    keys,
    login,
    refresh: createRefresh(shared),
    passwords,
    sessions,
    webSessions,
    /** The header of programs that sign in. */
    deviceHeader: { read: deviceTokenOf, write: withDeviceToken },
    signInBrowser: createBrowserSignIn({ sessions, webSessions }),
    browserAccess: createBrowserAccess({ ...shared, accessTtlSeconds: jwt.accessTtlSeconds }),
    issuerName: auth.issuerName,
    familyTtlSeconds: pairs.familyTtlSeconds,
    findPasswordProblems: users.findPasswordProblems,
    verifiesEmail: auth.verifyEmail,
    limiters: createAuthLimiters(infrastructure),
    secondFactor,
    devices,
    programKeys,
    credentials,
    accounts,
    ...mailing,
    verification,
    /** Statements for the batches of other features. */
    lockout,
    stillHasVersion: accounts.stillHasVersion,
    revokeSessions: sessionStore.revokeAll,
  }
}

function createMailing(infrastructure: Infrastructure<AuthConfig>) {
  const { config, mail, db, clock, random } = infrastructure
  return {
    mail,
    mailedTokens: createMailedTokens({ db, clock, random }),
    takeMailTurn: createMailsPerAddress(infrastructure),
    publicUrl: config.server.publicUrl,
  }
}

/** By client address; `confirm`, which guards what asks for the password again, and `browserAccess` are by user. */
function createAuthLimiters({ config, createLimiter }: Infrastructure<AuthConfig>) {
  const { rateLimit } = config.auth
  const limiter = (name: keyof typeof rateLimit) => createLimiter(name, rateLimit[name])
  return {
    login: limiter('login'),
    /** For what clients ask for before they sign in, so that it takes nothing from the logins. */
    signInOptions: createLimiter('sign-in-options', rateLimit.login),
    refresh: limiter('refresh'),
    verify: limiter('verify'),
    reset: limiter('reset'),
    confirm: createLimiter('confirm', rateLimit.verify),
    browserAccess: createLimiter('browser-access', rateLimit.verify),
  }
}
