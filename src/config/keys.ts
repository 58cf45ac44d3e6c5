/** Every configuration key: its name in the files, its environment variable, its type and its default. */
import { defaultRoles } from '../core/permissions.ts'
import type { MlcProblem, MlcSection } from './mlc.ts'
import {
  addressRange,
  baseUrl,
  bool,
  choice,
  integer,
  list,
  origins,
  type Reader,
  rateLimit,
  text,
  url,
} from './readers.ts'
import { readRoles } from './roles.ts'

export interface Key<T> {
  /** The name in the files, dots standing for sections. */
  path: string
  variable: string | undefined
  reader: Reader<T>
  fallback: T
}

/** A section whose entries people name themselves. */
export interface SectionKey<T> {
  path: string
  readSection(section: MlcSection): { value: T; problems: MlcProblem[] }
  fallback: T
}

type KeyTree = { readonly [name: string]: Key<unknown> | SectionKey<unknown> | KeyTree }

/** What a tree of keys reads to. */
export type ValuesOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends Key<infer T> | SectionKey<infer T> ? T : ValuesOf<Tree[Name]>
}

const secondsUpTo = (max: number) => integer({ min: 1, max })
const port = integer({ min: 0, max: 65_535 })
const count = integer({ min: 0, max: 1_000_000_000 })
const some = integer({ min: 1, max: 1_000_000_000 })
const year = 31_536_000

export const keys = {
  server: {
    host: key('server.host', text, '0.0.0.0', 'HOST'),
    port: key('server.port', port, 3000, 'PORT'),
    trustedProxies: key('server.trusted_proxies', list(addressRange), [], 'TRUSTED_PROXIES'),
    publicUrl: optional('server.public_url', baseUrl, 'PUBLIC_URL'),
    hsts: key('server.hsts', choice(['off', 'host', 'subdomains']), 'host', 'HSTS'),
    metricsToken: optional('server.metrics_token', text, 'METRICS_TOKEN'),
    unreadSeconds: key('server.unread_timeout', secondsUpTo(3600), 30, 'UNREAD_TIMEOUT'),
    maxEventLoopDelayMs: key('server.max_event_loop_delay_ms', count, 1000, 'MAX_EVENT_LOOP_DELAY_MS'),
  },
  log: {
    level: key('log.level', choice(['trace', 'debug', 'info', 'warn', 'error', 'silent']), 'info', 'LOG_LEVEL'),
  },
  database: {
    url: key('database.url', url('file', 'postgres', 'postgresql'), 'file:data/latchkey.db', 'DATABASE_URL'),
    poolSize: key('database.pool_size', integer({ min: 1, max: 1000 }), 10, 'DATABASE_POOL_SIZE'),
    statementTimeoutSeconds: key('database.statement_timeout', secondsUpTo(3600), 30, 'DATABASE_STATEMENT_TIMEOUT'),
  },
  redis: {
    url: optional('redis.url', url('redis', 'rediss'), 'REDIS_URL'),
  },
  jwt: {
    secret: optional('jwt.secret', text, 'JWT_SECRET'),
    previousSecrets: key('jwt.previous_secrets', list(text), [], 'JWT_PREVIOUS_SECRETS'),
    privateKeyFile: optional('jwt.private_key_file', text, 'JWT_PRIVATE_KEY_FILE'),
    accessTtlSeconds: key('jwt.access_ttl', secondsUpTo(year), 1800, 'JWT_ACCESS_TTL'),
    refreshTtlSeconds: key('jwt.refresh_ttl', secondsUpTo(10 * year), 604_800, 'JWT_REFRESH_TTL'),
    algorithm: key(
      'jwt.algorithm',
      choice(['HS256', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA']),
      'HS256',
      'JWT_ALGORITHM',
    ),
    issuer: key('jwt.issuer', text, 'service', 'JWT_ISSUER'),
  },
  auth: {
    appKey: optional('auth.app_key', text, 'APP_KEY'),
    bcryptCost: key('auth.bcrypt_cost', integer({ min: 4, max: 31 }), 12, 'BCRYPT_COST'),
    lockoutAttempts: key('auth.lockout.attempts', integer({ min: 1, max: 1_000_000 }), 5, 'LOCKOUT_ATTEMPTS'),
    lockoutSeconds: key('auth.lockout.seconds', secondsUpTo(year), 900, 'LOCKOUT_SECONDS'),
    challengeTtlSeconds: key('auth.challenge_ttl', secondsUpTo(86_400), 300, 'CHALLENGE_TTL'),
    defaultRoles: key('auth.default_roles', list(text), [], 'DEFAULT_ROLES'),
    rateLimit: {
      login: key('auth.rate_limit.login', rateLimit, { requests: 100, seconds: 60 }, 'RATE_LIMIT_LOGIN'),
      register: key('auth.rate_limit.register', rateLimit, { requests: 100, seconds: 60 }, 'RATE_LIMIT_REGISTER'),
      refresh: key('auth.rate_limit.refresh', rateLimit, { requests: 300, seconds: 60 }, 'RATE_LIMIT_REFRESH'),
      verify: key('auth.rate_limit.verify', rateLimit, { requests: 60, seconds: 60 }, 'RATE_LIMIT_VERIFY'),
      reset: key('auth.rate_limit.reset', rateLimit, { requests: 20, seconds: 60 }, 'RATE_LIMIT_RESET'),
    },
    roles: { path: 'auth.roles', readSection: readRoles, fallback: defaultRoles },
    password: {
      minLength: key('auth.password.min_length', integer({ min: 1, max: 72 }), 8),
      requireUpper: key('auth.password.require_upper', bool, true),
      requireNumber: key('auth.password.require_number', bool, true),
      requireSymbol: key('auth.password.require_symbol', bool, false),
    },
  },
  audit: {
    /** 0: for ever. */
    retentionDays: key('audit.retention_days', integer({ min: 0, max: 36_500 }), 365, 'AUDIT_RETENTION_DAYS'),
  },
  cors: {
    origins: key('cors.origins', origins, ['*'], 'CORS_ORIGINS'),
  },
  products: {
    collectionLimit: key('products.collection_limit', count, 1000),
    writePermission: optional('products.write_permission', text),
  },
  graphql: {
    /** Undefined means: as the environment says, true in development. */
    playground: optional('graphql.playground', bool, 'GQL_PLAYGROUND'),
    wsPort: key('graphql.ws.port', port, 6001, 'GQL_WS_PORT'),
    /** Undefined means: what server.host is. */
    wsHost: optional('graphql.ws.host', text, 'GQL_WS_HOST'),
    maxSocketsPerAddress: key('graphql.ws.max_per_address', some, 1000, 'GQL_WS_MAX_PER_ADDRESS'),
    maxSubscriptionsPerSocket: key('graphql.ws.max_subscriptions', some, 100, 'GQL_WS_MAX_SUBSCRIPTIONS'),
    maxSubscriptionsPerAddress: key(
      'graphql.ws.max_subscriptions_per_address',
      some,
      5000,
      'GQL_WS_MAX_SUBSCRIPTIONS_PER_ADDRESS',
    ),
    maxBytesPerAddress: key('graphql.ws.max_bytes_per_address', some, 33_554_432, 'GQL_WS_MAX_BYTES_PER_ADDRESS'),
    maxAnonymousMessage: key('graphql.ws.max_anonymous_message', some, 327_680, 'GQL_WS_MAX_ANONYMOUS_MESSAGE'),
    pubsub: key('graphql.pubsub', choice(['in_memory', 'redis']), 'in_memory', 'GQL_PUBSUB'),
    limits: {
      bytes: key('graphql.limits.bytes', some, 65_536),
      tokens: key('graphql.limits.tokens', some, 5000),
      depth: key('graphql.limits.depth', some, 15),
      aliases: key('graphql.limits.aliases', some, 50),
      cost: key('graphql.limits.cost', some, 50_000),
      batch: key('graphql.limits.batch', some, 10),
    },
    rateLimit: key('graphql.rate_limit.create_post', rateLimit, { requests: 600, seconds: 60 }, 'RATE_LIMIT_POSTS'),
    byteLimit: key(
      'graphql.rate_limit.create_post_bytes',
      rateLimit,
      { requests: 5_242_880, seconds: 60 },
      'RATE_LIMIT_POST_BYTES',
    ),
  },
  mail: {
    url: optional('mail.url', url('smtp', 'smtps'), 'MAIL_URL'),
    from: optional('mail.from', text, 'MAIL_FROM'),
  },
} satisfies KeyTree

/** All keys by their path. */
export const keysByPath: ReadonlyMap<string, Key<unknown>> = new Map(
  leavesOf(keys)
    .filter((leaf) => isKey(leaf))
    .map((leaf): [string, Key<unknown>] => [leaf.path, leaf]),
)

export const sectionKeysByPath: ReadonlyMap<string, SectionKey<unknown>> = new Map(
  leavesOf(keys)
    .filter((leaf) => isSectionKey(leaf))
    .map((leaf): [string, SectionKey<unknown>] => [leaf.path, leaf]),
)

export function isKey(node: object): node is Key<unknown> {
  return 'reader' in node
}

export function isSectionKey(node: object): node is SectionKey<unknown> {
  return 'readSection' in node
}

function leavesOf(tree: KeyTree): (Key<unknown> | SectionKey<unknown>)[] {
  return Object.values(tree).flatMap((node) => (isKey(node) || isSectionKey(node) ? [node] : leavesOf(node as KeyTree)))
}

function key<T>(path: string, reader: Reader<T>, fallback: NoInfer<T>, variable?: string): Key<T> {
  return { path, variable, reader, fallback }
}

function optional<T>(path: string, reader: Reader<T>, variable?: string): Key<T | undefined> {
  return { path, variable, reader, fallback: undefined }
}
