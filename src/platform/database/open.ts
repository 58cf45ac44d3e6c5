/** Opens the database of a URL and migrates it. */
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../core/clock.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Random } from '../../core/random.ts'
import type { Log } from '../log/logger.ts'
import { countLists } from './counted-lists.ts'
import type { Database, Dialect, Observe } from './database.ts'
import { applyMigrations, type MigrationFolder, type MigrationTransaction, readMigrations } from './migrations.ts'
import { withPostgresMigrations } from './postgres/migrate.ts'
import { openPostgres } from './postgres/postgres.ts'
import { damageAdvice, isDamage } from './sqlite/faults.ts'
import { withSqliteMigrations } from './sqlite/migrate.ts'
import type { RewriteOptions } from './sqlite/rewrite-space.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import type { SqliteThreads } from './sqlite/threads.ts'

export interface OpenOptions extends RewriteOptions {
  url: string
  /** PostgreSQL itself, if `url` is a pooler. */
  listenUrl?: string | undefined
  poolSize: number
  statementTimeoutSeconds: number
  /** Base of relative SQLite paths. */
  root: string
  migrations: readonly MigrationFolder[]
  /** Tables with maintained row counts. */
  countedLists?: readonly string[]
  clock: Clock
  random: Random
  onConnectionLost?: (error: Error) => void
  /** Logs each fault of a SQLite file once, with advice. Without it, every error carries its cause. */
  faultLog?: Log | undefined
  observe?: Observe
  /** The threads of a SQLite file, if they are shared with other threads of the process. */
  connectThreads?: () => SqliteThreads
  /** Another thread of the process has migrated the database. */
  isMigrated?: boolean
}

export async function openDatabase(options: OpenOptions): Promise<{ db: Database; applied: string[] }> {
  const { url, clock } = options
  const dialect = dialectOf(url)
  const migrations = readMigrations(options.migrations, dialect)
  const path = dialect === 'sqlite' ? sqlitePath(url, options.root) : undefined

  // Opened before migrating, because its errors are the clearest if the database cannot be reached.
  const { onConnectionLost = () => {}, observe = () => {}, faultLog, connectThreads } = options
  const db =
    path === undefined
      ? await openPostgres({ ...options, onConnectionLost, observe, random: options.random.fraction })
      : openSqlite({ path, observe, log: faultLog, ...(connectThreads && { connectThreads }) })
  if (options.isMigrated) return { db, applied: [] }
  try {
    const apply = async (transaction: MigrationTransaction) => {
      const applied = await applyMigrations(transaction, migrations, clock.nowIso())
      await countLists(transaction, options.countedLists ?? [])
      return applied
    }
    const applied = await (path === undefined
      ? withPostgresMigrations(url, apply)
      : withSqliteMigrations(path, apply, options))
    return { db, applied }
  } catch (error) {
    await db.close()
    throw path !== undefined && isDamage(error) ? new FatalError(damageAdvice(path), exitCodes.badData) : error
  }
}

function dialectOf(url: string): Dialect {
  return url.startsWith('file:') ? 'sqlite' : 'postgres'
}

/** The path of a `file:` URL. Relative paths start at `root`. */
export function sqlitePath(url: string, root: string): string {
  if (url.startsWith('file://')) return fileURLToPath(url)
  const path = url.slice('file:'.length)
  return isAbsolute(path) ? path : join(root, path)
}
