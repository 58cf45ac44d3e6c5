/** The composition root: the only file that knows every part. */
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import { root } from './config/root.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { type Random, systemRandom } from './core/random.ts'
import { createPolicies } from './features/access/policies.ts'
import { compileRoles } from './features/access/roles.ts'
import { adminRoutes } from './features/admin/admin.routes.ts'
import { createAdmin } from './features/admin/admin.service.ts'
import { createAdminStore } from './features/admin/admin.store.ts'
import { createAudit } from './features/audit/audit.store.ts'
import { createAccountStore } from './features/auth/accounts.store.ts'
import { addAuthRoutes } from './features/auth/auth.routes.ts'
import { createAuthenticator } from './features/auth/authenticator.ts'
import { createLockout } from './features/auth/lockout.ts'
import { createLogin } from './features/auth/login.service.ts'
import { createPasswordService } from './features/auth/password.service.ts'
import { createRefresh } from './features/auth/refresh.service.ts'
import { createSessions } from './features/auth/sessions.service.ts'
import { createSessionStore } from './features/auth/sessions.store.ts'
import { createSigningKeys } from './features/auth/signing-keys.ts'
import { createTokenPairs } from './features/auth/token-pairs.ts'
import { createTokens } from './features/auth/tokens.ts'
import { postPolicy } from './features/posts/posts.policy.ts'
import { addPostRoutes } from './features/posts/posts.routes.ts'
import { createPostStore } from './features/posts/posts.store.ts'
import { addTwoFactorRoutes } from './features/two-factor/two-factor.routes.ts'
import { createTwoFactor } from './features/two-factor/two-factor.service.ts'
import { createTwoFactorStore } from './features/two-factor/two-factor.store.ts'
import { findPasswordProblems } from './features/users/password-policy.ts'
import { User } from './features/users/user.ts'
import { addUserRoutes } from './features/users/users.routes.ts'
import { createUsers } from './features/users/users.service.ts'
import { createUserStore } from './features/users/users.store.ts'
import { startCleanup } from './platform/database/cleanup.ts'
import type { Database } from './platform/database/database.ts'
import { openDatabase, sqlitePath } from './platform/database/open.ts'
import { createHttpServer } from './platform/http/server.ts'
import { createLimiters } from './platform/limiter/limiter.ts'
import type { Log } from './platform/log/logger.ts'
import { createMail } from './platform/mail/mail.ts'
import { createMetrics, type Metrics } from './platform/metrics/metrics.ts'
import { createPasswords } from './platform/passwords/passwords.ts'
import { openRedis } from './platform/redis/redis.ts'
import { createEncryption } from './platform/secrets/encryption.ts'
import { findOrCreateSecret } from './platform/secrets/secret-file.ts'

export interface AppOptions {
  config: Config
  log: Log
  clock?: Clock
  random?: Random
  /** A folder with a folder of migrations for each engine. */
  migrations?: string
  /** Routes beside the service's own. */
  extend?: (app: FastifyInstance, parts: { db: Database }) => void | Promise<void>
}

export interface App {
  /** Serves, and answers the address it serves on. */
  listen(): Promise<{ url: string }>
  close(): Promise<void>
}

/** What every part is made from. */
interface Ground {
  config: Config
  log: Log
  clock: Clock
  random: Random
  db: Database
  /** Closed in the opposite order. */
  closers: (() => Promise<void>)[]
}

export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, clock = systemClock, random = systemRandom } = options
  const closers: Ground['closers'] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const metrics = createMetrics()
    const db = await openAppDatabase({ ...options, clock, random, metrics })
    closers.push(() => db.close())
    const ground: Ground = { config, log, clock, random, db, closers }

    const redis = config.redis.url === undefined ? undefined : await openRedis(config.redis.url, log)
    if (redis) closers.push(() => redis.close())

    const auth = createAuth(ground)
    const posts = createPostStore({ db, clock })
    const http = await createHttpServer({
      ...config.server,
      log,
      random,
      metrics,
      authenticate: auth.authenticate,
      policies: createPolicies({ posts: postPolicy }),
      checks: {
        database: () => db.get('SELECT 1 AS ok'),
        ...(redis && { redis: () => redis.ping() }),
      },
    })
    closers.push(() => http.close())
    auth.addRoutes(http.app, createLimiters(redis?.client))
    addPostRoutes(http.app, { posts })
    await http.app.register(adminRoutes, { prefix: '/api/admin', admin: auth.admin })
    await options.extend?.(http.app, { db })
    await http.app.ready()

    return {
      listen: async () => ({ url: await http.listen(config.server.host, config.server.port) }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openAppDatabase(
  options: AppOptions & { clock: Clock; random: Random; metrics: Metrics },
): Promise<Database> {
  const { config, log, clock, random, metrics } = options
  const reads = metrics.databaseSeries({ operation: 'read' })
  const writes = metrics.databaseSeries({ operation: 'write' })
  const { db, applied } = await openDatabase({
    ...config.database,
    root,
    migrations: options.migrations ?? join(root, 'migrations'),
    clock,
    random,
    onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
    observe: (operation, ms) => (operation === 'read' ? reads : writes).observe(ms / 1000),
  })
  if (applied.length > 0) log.info({ applied }, 'migrations applied')
  return db
}

/** Users, signing in and the second factor. */
function createAuth({ config, log, clock, random, db, closers }: Ground) {
  const { jwt, auth, server } = config
  const secret = jwt.secret ?? findDevelopmentSecret(config, log, random)
  const keys = createSigningKeys({ ...jwt, secret, privateKeys: config.privateKeys })
  const tokens = createTokens({ ...jwt, keys, clock })
  const pairs = createTokenPairs({ ...jwt, tokens, clock, random })
  const secrets = [auth.appKey, secret, ...jwt.previousSecrets].filter((each) => each !== undefined)

  if (auth.bcryptCost < 10)
    log.warn({ cost: auth.bcryptCost }, 'auth.bcrypt_cost is under 10: hashes are quick to guess')
  const passwords = createPasswords({ cost: auth.bcryptCost })
  closers.push(() => passwords.close())
  const mail = createMail({ ...config.mail, isDevelopment: config.isDevelopment, log })
  if (mail) closers.push(() => mail.close())

  const audit = createAudit({ clock })
  const accounts = createAccountStore({ db, clock })
  const sessions = createSessionStore({ db, clock })
  const lockout = createLockout({ db, clock, attempts: auth.lockoutAttempts, seconds: auth.lockoutSeconds })
  const twoFactorStore = createTwoFactorStore({ db })
  const secondFactors = createTwoFactor({
    db,
    clock,
    random,
    store: twoFactorStore,
    encryption: createEncryption(secrets, random),
    passesLock: lockout.passes,
    stillHasVersion: accounts.stillHasVersion,
    log,
    audit,
  })
  const shared = { db, clock, random, log, accounts, sessions, lockout, passwords, tokens, pairs, audit }
  const login = createLogin({ ...shared, secondFactors, challengeTtlSeconds: auth.challengeTtlSeconds })
  const passwordService = createPasswordService({ ...shared, login, mail, publicUrl: server.publicUrl })
  closers.push(() => passwordService.close())
  const cleanup = startCleanup({ db, clock, log, tables: expiringTables })
  closers.push(() => cleanup.close())
  const users = createUsers({
    users: createUserStore({ db, clock, audit }),
    passwords,
    defaultRoles: auth.defaultRoles,
  })
  const roles = compileRoles(auth.roles)
  const admin = createAdmin({
    db,
    store: createAdminStore({ db, clock, administrators: roles.administrators() }),
    roles,
    unlock: lockout.unlock,
    removeTwoFactor: twoFactorStore.remove,
    endSessions: sessions.revokeAll,
    audit,
  })

  return {
    users,
    admin,
    authenticate: createAuthenticator({ db, tokens, createUser: (row) => new User(row, roles) }),
    addRoutes(app: FastifyInstance, createLimiter: ReturnType<typeof createLimiters>) {
      const limiter = (name: keyof typeof auth.rateLimit) => createLimiter(name, auth.rateLimit[name])
      const confirm = createLimiter('confirm', auth.rateLimit.verify)
      addUserRoutes(app, { users, limiter: limiter('register'), passwordPolicy: auth.password })
      addAuthRoutes(app, {
        login,
        refresh: createRefresh(shared),
        sessions: createSessions({ db, sessions, audit }),
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
      addTwoFactorRoutes(app, { twoFactor: secondFactors.manage(login), limiter: confirm })
    },
  }
}

const expiringTables = [
  { table: 'sessions', key: 'id' },
  { table: 'revoked_tokens', key: 'id' },
  { table: 'used_once', key: 'id' },
  { table: 'login_attempts', key: 'email' },
  { table: 'password_resets', key: 'token_hash' },
]

/** In development on SQLite, so that a first start needs nothing; the configuration refuses it everywhere else. */
function findDevelopmentSecret(config: Config, log: Log, random: Random): string | undefined {
  if (!config.isDevelopment || !config.database.url.startsWith('file:')) return undefined
  const path = join(dirname(sqlitePath(config.database.url, root)), 'jwt-secret')
  const { secret, isNew } = findOrCreateSecret(path, random)
  if (isNew) log.info({ path }, 'no JWT_SECRET is set: a random one was made, for development, and is kept there')
  return secret
}
