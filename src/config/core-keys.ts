/** The configuration keys of the service itself. Those of a feature are declared by the feature. */
import { type KeyTree, key, optional, secret } from './key.ts'
import {
  addressRange,
  baseUrl,
  bool,
  choice,
  count,
  databaseUrl,
  host,
  integer,
  list,
  origins,
  positive,
  secondsUpTo,
  text,
  url,
} from './readers.ts'
import { telemetryKeys } from './telemetry-keys.ts'

const port = integer({ min: 0, max: 65_535 })

export const coreKeys = {
  server: {
    host: key('server.host', host, '0.0.0.0', 'HOST'),
    port: key('server.port', port, 3000, 'PORT'),
    trustedProxies: key('server.trusted_proxies', list(addressRange), [], 'TRUSTED_PROXIES'),
    publicUrl: optional('server.public_url', baseUrl, 'PUBLIC_URL'),
    hsts: key('server.hsts', choice(['off', 'host', 'subdomains']), 'host', 'HSTS'),
    metricsToken: secret(optional('server.metrics_token', text, 'METRICS_TOKEN')),
    /** When undefined, 3, but 0 in development. */
    drainSeconds: optional('server.drain_seconds', integer({ min: 0, max: 3600 }), 'DRAIN_SECONDS'),
    unreadSeconds: key('server.unread_timeout', secondsUpTo(3600), 30, 'UNREAD_TIMEOUT'),
    /** 0 stands for the number of cores. */
    threads: key('server.threads', integer({ min: 0, max: 64 }), 0, 'THREADS'),
    /** 0 never replaces a thread. */
    unresponsiveSeconds: key('server.unresponsive_seconds', integer({ min: 0, max: 3600 }), 10, 'UNRESPONSIVE_SECONDS'),
    maxEventLoopDelayMs: key('server.max_event_loop_delay_ms', count, 1000, 'MAX_EVENT_LOOP_DELAY_MS'),
  },
  log: {
    level: key('log.level', choice(['trace', 'debug', 'info', 'warn', 'error', 'silent']), 'info', 'LOG_LEVEL'),
  },
  database: {
    url: secret(key('database.url', databaseUrl('file'), 'file:data/latchkey.db', 'DATABASE_URL')),
    /** Defaults to database.url. */
    listenUrl: secret(optional('database.listen_url', databaseUrl(), 'DATABASE_LISTEN_URL')),
    /** Of the process. Defaults to 10, or two for each thread if that is more. */
    poolSize: optional('database.pool_size', integer({ min: 1, max: 1000 }), 'DATABASE_POOL_SIZE'),
    statementTimeoutSeconds: key('database.statement_timeout', secondsUpTo(3600), 30, 'DATABASE_STATEMENT_TIMEOUT'),
  },
  redis: {
    url: secret(optional('redis.url', url('redis', 'rediss'), 'REDIS_URL')),
  },
  jwt: {
    secret: secret(optional('jwt.secret', text, 'JWT_SECRET')),
    previousSecrets: secret(key('jwt.previous_secrets', list(text), [], 'JWT_PREVIOUS_SECRETS')),
  },
  auth: {
    appKey: secret(optional('auth.app_key', text, 'APP_KEY')),
  },
  audit: {
    /** 0 keeps entries for ever. */
    retentionDays: key('audit.retention_days', integer({ min: 0, max: 36_500 }), 365, 'AUDIT_RETENTION_DAYS'),
  },
  changes: {
    /** 0 keeps entries for ever. */
    retentionDays: key('changes.retention_days', integer({ min: 0, max: 36_500 }), 30, 'CHANGES_RETENTION_DAYS'),
  },
  cors: {
    origins: key('cors.origins', origins, ['*'], 'CORS_ORIGINS'),
  },
  graphql: {
    /** When undefined, true in development only. */
    playground: optional('graphql.playground', bool, 'GQL_PLAYGROUND'),
    wsPort: key('graphql.ws.port', port, 6001, 'GQL_WS_PORT'),
    /** Defaults to server.host. */
    wsHost: optional('graphql.ws.host', host, 'GQL_WS_HOST'),
    maxSocketsPerAddress: key('graphql.ws.max_per_address', positive, 1000, 'GQL_WS_MAX_PER_ADDRESS'),
    maxSubscriptionsPerSocket: key('graphql.ws.max_subscriptions', positive, 100, 'GQL_WS_MAX_SUBSCRIPTIONS'),
    maxSubscriptionsPerAddress: key(
      'graphql.ws.max_subscriptions_per_address',
      positive,
      5000,
      'GQL_WS_MAX_SUBSCRIPTIONS_PER_ADDRESS',
    ),
    maxBytesPerAddress: key('graphql.ws.max_bytes_per_address', positive, 33_554_432, 'GQL_WS_MAX_BYTES_PER_ADDRESS'),
    maxAnonymousMessage: key('graphql.ws.max_anonymous_message', positive, 327_680, 'GQL_WS_MAX_ANONYMOUS_MESSAGE'),
    pubsub: key('graphql.pubsub', choice(['in_memory', 'redis', 'postgres']), 'in_memory', 'GQL_PUBSUB'),
    limits: {
      bytes: key('graphql.limits.bytes', positive, 65_536),
      tokens: key('graphql.limits.tokens', positive, 5000),
      depth: key('graphql.limits.depth', positive, 15),
      aliases: key('graphql.limits.aliases', positive, 50),
      cost: key('graphql.limits.cost', positive, 50_000),
      batch: key('graphql.limits.batch', positive, 10),
    },
  },
  telemetry: telemetryKeys,
  features: {
    /** Built-in features that are turned off. */
    disabled: key('features.disabled', list(text), [], 'FEATURES_DISABLED'),
  },
  extensions: key('extensions', list(text), [], 'LATCHKEY_EXTENSIONS'),
  mail: {
    url: secret(optional('mail.url', url('smtp', 'smtps'), 'MAIL_URL')),
    from: optional('mail.from', text, 'MAIL_FROM'),
  },
} satisfies KeyTree
