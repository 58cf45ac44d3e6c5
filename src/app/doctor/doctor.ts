/** Checks a configuration, and what it names, against what production wants. Changes nothing. */
import { root } from '../../config/root.ts'
import { findProductionSettings } from '../../features/set-up/production-settings.ts'
import { readMigrations } from '../../platform/database/migrations.ts'
import { sqlitePath } from '../../platform/database/open.ts'
import type { Feature } from '../../platform/feature.ts'
import { declaredBy } from '../declarations.ts'
import { withOwnFeatures } from '../features.ts'
import type { Config } from '../load-config.ts'
import { countServingThreads } from '../threads/count.ts'
import { checkBackups } from './backup-checks.ts'
import { checkPostgres, checkSqlite } from './database-checks.ts'
import type { Finding } from './finding.ts'
import { checkCollector, checkListening, checkMailServer, checkRedis } from './neighbour-checks.ts'
import { checkOpenFiles } from './open-files-check.ts'

export interface DoctorOptions {
  config: Config
  extensions: readonly Feature[]
  /** Why `start` would refuse this configuration. */
  startProblems: readonly string[]
}

export async function examine({ config, extensions, startProblems }: DoctorOptions): Promise<Finding[]> {
  const groups = await Promise.all([
    checkDatabase(config, extensions),
    config.redis.url === undefined ? [] : checkRedis(config.redis.url),
    config.mail.url === undefined ? [] : checkMailServer(config.mail.url),
    checkNotifications(config.database),
    checkTelemetry(config.telemetry),
    checkBackups(config),
  ])
  return [checkStart(startProblems), ...checkSettings(config), checkOpenFiles(), ...groups.flat()]
}

function checkStart(problems: readonly string[]): Finding {
  if (problems.length === 0) return { id: 'configuration', status: 'ok', text: 'start accepts the configuration' }
  return { id: 'configuration', status: 'problem', text: `start refuses the configuration: ${problems.join('; ')}` }
}

function checkSettings(config: Config): Finding[] {
  return findProductionSettings(config)
    .filter(({ isMet }) => isMet !== undefined)
    .map(({ id, name, why, isMet, isEssential }) =>
      isMet
        ? { id, status: 'ok', text: name }
        : { id, status: isEssential ? 'problem' : 'warning', text: `set ${name}: ${why}` },
    )
}

function checkNotifications({ url, listenUrl }: Config['database']): Promise<Finding> | [] {
  return listenUrl === undefined || url.startsWith('file:') ? [] : checkListening(listenUrl)
}

function checkTelemetry(telemetry: Config['telemetry']): Promise<Finding> | [] {
  const { endpoint, traces, metrics } = telemetry
  return endpoint === undefined || (traces === 'none' && metrics === 'none') ? [] : checkCollector(endpoint, telemetry)
}

function checkDatabase({ database, server }: Config, extensions: readonly Feature[]): Promise<Finding[]> {
  const isSqlite = database.url.startsWith('file:')
  const { migrations } = declaredBy(withOwnFeatures(extensions))
  const known = readMigrations(migrations, isSqlite ? 'sqlite' : 'postgres')
  if (isSqlite) return checkSqlite(sqlitePath(database.url, root), known)
  return checkPostgres({ ...database, threads: countServingThreads(server.threads) }, known)
}
