/** Opens the database of a URL and migrates it. */
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Log } from '../log/logger.ts'
import { countLists } from './counted-lists.ts'
import type { Database, Dialect, Observe } from './database.ts'
import { applyMigrations, type MigrationFolder, type MigrationTransaction, readMigrations } from './migrations.ts'
import { withSqliteMigrations } from './sqlite/migrate.ts'
import { toFatalError } from './sqlite/open-errors.ts'
import type { RewriteOptions } from './sqlite/rewrite-space.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import type { SqliteThreadData } from './sqlite/thread-connection.ts'
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
  /** The thread that writes a SQLite file has died. It is not started again. */
  onWriterDeath?: ((error: Error) => void) | undefined
  /** Logs each fault of a SQLite file once, with advice. Without it, every error carries its cause. */
  faultLog?: Log | undefined
  observe?: Observe
  /** The threads of a SQLite file, if they are shared with other threads of the process. */
  connectThreads?: (file: SqliteThreadData) => SqliteThreads
  /** Another thread of the process has migrated the database. */
  isMigrated?: boolean
}

export async function openDatabase(options: OpenOptions): Promise<{ db: Database; applied: string[] }> {
  const { url, clock } = options
  const migrations = options.isMigrated ? [] : readMigrations(options.migrations, dialectOf(url))
  const path = findSqlitePath(url, options.root)

  // Opened before migrating, because its errors are the clearest if the database cannot be reached.
  const { db, migrate } = path === undefined ? await openOnServer(options) : openFile(path, options)
  if (options.isMigrated) return { db, applied: [] }
  try {
    const applied: string[] = []
    for (let isDone = false; !isDone; ) {
      const names = await migrate(async (transaction) => {
        const names = await applyMigrations(transaction, migrations, clock.nowIso())
        await countLists(transaction, options.countedLists ?? [])
        return names
      })
      applied.push(...names)
      isDone = names.length === 0 || names.includes(migrations.at(-1)?.name as string)
    }
    return { db, applied }
  } catch (error) {
    await db.close()
    throw withAdvice(error, options)
  }
}

interface Opened {
  db: Database
  migrate<T>(work: (transaction: MigrationTransaction) => Promise<T>): Promise<T>
}

function openFile(path: string, options: OpenOptions): Opened {
  const { observe = () => {}, faultLog, connectThreads, onWriterDeath } = options
  const given = { ...(connectThreads && { connectThreads }), ...(onWriterDeath && { onWriterDeath }) }
  return {
    db: openSqlite({ path, observe, log: faultLog, ...given }),
    migrate: (work) => withSqliteMigrations(path, work, options),
  }
}

/** The driver is loaded only here, because it takes memory in every thread. */
async function openOnServer(options: OpenOptions): Promise<Opened> {
  const [{ openPostgres }, { withPostgresMigrations }] = await Promise.all([
    import('./postgres/postgres.ts'),
    import('./postgres/migrate.ts'),
  ])
  const { onConnectionLost = () => {}, observe = () => {}, random } = options
  return {
    db: await openPostgres({ ...options, onConnectionLost, observe, random: random.fraction }),
    migrate: (work) => withPostgresMigrations(options.url, work, options.onLongWork),
  }
}

export function dialectOf(url: string): Dialect {
  return url.startsWith('file:') ? 'sqlite' : 'postgres'
}

/** The error to end a start or a command with: one that says what to do about the file, if it is at fault. */
export function withAdvice(error: unknown, { url, root }: Pick<OpenOptions, 'url' | 'root'>): unknown {
  const path = findSqlitePath(url, root)
  return path === undefined ? error : toFatalError(path, error)
}

/** Undefined for PostgreSQL. */
export function findSqlitePath(url: string, root: string): string | undefined {
  return dialectOf(url) === 'sqlite' ? sqlitePath(url, root) : undefined
}

/** The path of a `file:` URL. Relative paths start at `root`. */
export function sqlitePath(url: string, root: string): string {
  if (url.startsWith('file://')) return fileURLToPath(url)
  const path = url.slice('file:'.length)
  return isAbsolute(path) ? path : join(root, path)
}
