import type { CoreConfig } from '../config/config.ts'
import { root } from '../config/root.ts'
import type { Random } from '../core/random.ts'
import { sqlitePath } from '../platform/database/open.ts'
import type { Log } from '../platform/log/logger.ts'
import { createSecrets, type Secrets } from '../platform/secrets/secrets.ts'

interface SecretsParts {
  config: CoreConfig
  log: Log
  random: Random
  isServing: boolean
}

/** In development a missing signing secret is generated. */
export function openSecrets({ config, log, random, isServing }: SecretsParts): Secrets {
  return createSecrets({
    signing: config.jwt.secret,
    previous: config.jwt.previousSecrets,
    appKey: config.auth.appKey,
    databaseFile: developmentFile(config),
    isServing,
    random,
    log,
  })
}

/** The SQLite file in development; a signing secret may be generated and stored beside it. */
function developmentFile({ isDevelopment, database }: CoreConfig): string | undefined {
  return isDevelopment && database.url.startsWith('file:') ? sqlitePath(database.url, root) : undefined
}
