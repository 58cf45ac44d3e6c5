/** Signing in, tokens and the second factor. */
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { root } from '../config/root.ts'
import { createAccountStore } from '../features/auth/accounts.store.ts'
import { addAuthRoutes } from '../features/auth/auth.routes.ts'
import { createAuthenticator, type PrincipalRow } from '../features/auth/authenticator.ts'
import { createLogin } from '../features/auth/login.service.ts'
import { createPasswordService } from '../features/auth/password.service.ts'
import { createRefresh } from '../features/auth/refresh.service.ts'
import { createSessions } from '../features/auth/sessions.service.ts'
import { createSigningKeys } from '../features/auth/signing-keys.ts'
import { createTokenPairs } from '../features/auth/token-pairs.ts'
import { createTokens } from '../features/auth/tokens.ts'
import { createWebSessions } from '../features/auth/web-sessions.ts'
import { addTwoFactorRoutes } from '../features/two-factor/two-factor.routes.ts'
import { createTwoFactor } from '../features/two-factor/two-factor.service.ts'
import { findPasswordProblems } from '../features/users/password-policy.ts'
import { User } from '../features/users/user.ts'
import { addUserRoutes } from '../features/users/users.routes.ts'
import { sqlitePath } from '../platform/database/open.ts'
import { createSingleUseIds } from '../platform/database/single-use-ids.ts'
import type { CreateLimiter } from '../platform/limiter/limiter.ts'
import { createMail } from '../platform/mail/mail.ts'
import { createCsrf } from '../platform/pages/csrf.ts'
import { createEncryption } from '../platform/secrets/encryption.ts'
import { findOrCreateSecret } from '../platform/secrets/secret-file.ts'
import type { Accounts } from './accounts.ts'
import type { Infrastructure } from './infrastructure.ts'

export async function createAuth(
  infrastructure: Infrastructure,
  { onAccessChanged, passwords, roles, audit, sessions, lockout, twoFactorStore, users }: Accounts,
) {
  const { config, log, clock, random, db } = infrastructure
  const { jwt, auth, server } = config
  const secret = jwt.secret ?? findDevelopmentSecret(infrastructure)
  const keys = createSigningKeys({ ...jwt, secret, privateKeys: config.privateKeys })
  const tokens = createTokens({ ...jwt, keys, clock })
  const pairs = createTokenPairs({ ...jwt, tokens, clock, random })
  const secrets = [auth.appKey, secret, ...jwt.previousSecrets].filter((each) => each !== undefined)

  const mail = await createMail({ ...config.mail, isDevelopment: config.isDevelopment, log })
  if (mail) infrastructure.onClose(() => mail.close())
  const accounts = createAccountStore({ db, clock })
  const singleUseIds = createSingleUseIds(db)
  const secondFactors = createTwoFactor({
    db,
    clock,
    random,
    log,
    store: twoFactorStore,
    singleUseIds,
    encryption: createEncryption(secrets, random),
    passesLock: lockout.passes,
    stillHasVersion: accounts.stillHasVersion,
    audit,
  })
  const shared = {
    db,
    clock,
    random,
    log,
    accounts,
    sessions,
    lockout,
    passwords,
    tokens,
    pairs,
    audit,
    onAccessChanged,
  }
  const login = createLogin({ ...shared, secondFactors, singleUseIds, challengeTtlSeconds: auth.challengeTtlSeconds })
  const passwordService = createPasswordService({ ...shared, login, mail, publicUrl: server.publicUrl })
  infrastructure.onClose(() => passwordService.close())

  const createUser = (row: PrincipalRow) => new User(row, roles)
  const sessionService = createSessions(shared)
  const twoFactor = secondFactors.manage(login)
  const [currentSecret = ''] = secrets

  return {
    authenticate: createAuthenticator({ db, tokens, createUser }),
    login,
    passwords: passwordService,
    sessions: sessionService,
    twoFactor,
    findPasswordProblems: (password: string) => findPasswordProblems(password, auth.password),
    webSessions: createWebSessions({ db, clock, random, createUser, ttlSeconds: jwt.refreshTtlSeconds }),
    familyTtlSeconds: pairs.familyTtlSeconds,
    csrf: createCsrf({ secret: currentSecret, random }),

    addRoutes(app: FastifyInstance, createLimiter: CreateLimiter) {
      const limiter = (name: keyof typeof auth.rateLimit) => createLimiter(name, auth.rateLimit[name])
      const confirm = createLimiter('confirm', auth.rateLimit.verify)
      addUserRoutes(app, { users, limiter: limiter('register'), passwordPolicy: auth.password })
      addAuthRoutes(app, {
        login,
        refresh: createRefresh(shared),
        sessions: sessionService,
        passwords: passwordService,
        keys,
        limiters: {
          login: limiter('login'),
          refresh: limiter('refresh'),
          verify: limiter('verify'),
          reset: limiter('reset'),
          confirm,
        },
        findPasswordProblems: (password) => findPasswordProblems(password, auth.password),
      })
      addTwoFactorRoutes(app, { twoFactor, limiter: confirm })
    },
  }
}

/** In development on SQLite, so that a first start needs nothing; the configuration refuses it everywhere else. */
function findDevelopmentSecret({ config, log, random }: Infrastructure): string | undefined {
  if (!config.isDevelopment || !config.database.url.startsWith('file:')) return undefined
  const path = join(dirname(sqlitePath(config.database.url, root)), 'jwt-secret')
  const { secret, isNew } = findOrCreateSecret(path, random)
  if (isNew) log.info({ path }, 'no JWT_SECRET is set: a random one was made, for development, and is kept there')
  return secret
}
