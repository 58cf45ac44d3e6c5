/** Checks of the database: can it be reached, is it set up well, is its schema up to date. */
import { errorMessage } from '../../core/error-message.ts'
import { FatalError } from '../../core/fatal-error.ts'
import { isOnThisMachine, parsePostgresUrl } from '../../core/postgres-url.ts'
import { type AppliedMigration, findPending, type Migration } from '../../platform/database/migrations.ts'
import { inspectPostgres, type PostgresState } from '../../platform/database/postgres/inspect.ts'
import { requireSuitable } from '../../platform/database/postgres/session.ts'
import { inspectSqlite, type SqliteState } from '../../platform/database/sqlite/inspect.ts'
import { adviceOnNames, describeNames } from '../../platform/database/sqlite/one-name.ts'
import { isFolderAdvice } from '../../platform/database/sqlite/open-errors.ts'
import { connectionsPerThread } from '../threads/count.ts'
import { checkClock } from './clock-check.ts'
import { type Finding, judge } from './finding.ts'
import { checkSpace } from './space-check.ts'

const minPostgres = 140_000

export async function checkSqlite(path: string, migrations: readonly Migration[]): Promise<Finding[]> {
  const state = await inspectSqlite(path)
  // Writes need room for the -wal, a migration three times its table.
  const wantedBytes = 3 * (state.file?.bytes ?? 0)
  const findings = [checkFolder(state), checkSpace('disk_space', { ...state, wantedBytes })]
  if (!state.file) {
    return [...findings, { id: 'database', status: 'ok', text: `${path} does not exist yet; the first start makes it` }]
  }
  if (state.file.isFolder) {
    return [...findings, { id: 'database', status: 'problem', text: `${path} ${isFolderAdvice}` }]
  }
  findings.push(
    judge('database_mode', {
      isFine: state.file.isPrivate,
      fine: 'the database file is readable by its owner alone',
      otherwise: ['warning', `${path} is readable by others: "chmod 600" it; the next start does so too`],
    }),
    judge('database_names', {
      isFine: state.file.names === 1,
      fine: 'the database file has one name',
      otherwise: ['problem', `${path}: ${describeNames(state.file.names)}. ${adviceOnNames(path)}`],
    }),
    judge('database', {
      isFine: state.problem === undefined && state.file.isWritable,
      fine: `${path} can be read`,
      otherwise: [
        'problem',
        state.problem === undefined
          ? `${path} is not writable for this user: change its owner, or run as that user`
          : `${path} cannot be read (${state.problem}): restore a backup`,
      ],
    }),
  )
  return state.problem === undefined ? [...findings, checkMigrations(state.applied, migrations)] : findings
}

function checkFolder({ folder, isFolderWritable }: SqliteState): Finding {
  return judge('database_folder', {
    isFine: isFolderWritable,
    fine: `${folder} is writable`,
    otherwise: ['problem', `${folder} is not writable for this user, but SQLite makes files there: change its owner`],
  })
}

export interface PostgresTarget {
  url: string
  /** database.pool_size. */
  poolSize?: number | undefined
  /** How many serve. */
  threads: number
}

export async function checkPostgres(target: PostgresTarget, migrations: readonly Migration[]): Promise<Finding[]> {
  const { place, hosts } = parsePostgresUrl(target.url)
  let state: PostgresState
  try {
    state = await inspectPostgres(target.url)
  } catch (error) {
    const text = `cannot reach PostgreSQL at ${place} (${errorMessage(error)}): check DATABASE_URL and the server`
    return [{ id: 'database', status: 'problem', text }]
  }
  const suitability = checkSuitability(state, place, hosts.length > 1)
  const version = `PostgreSQL ${Math.floor(state.version / 10_000)}.${state.version % 10_000} at ${place}`
  return [
    judge('database', {
      isFine: state.version >= minPostgres,
      fine: version,
      otherwise: ['problem', `${version} is too old: upgrade to 14 or newer`],
    }),
    suitability,
    ...checkDurability(state),
    checkConnections(state, target),
    judge('database_encryption', {
      isFine: state.isEncrypted || isOnThisMachine(target.url),
      fine: state.isEncrypted ? 'the connection to PostgreSQL is encrypted' : 'PostgreSQL is on this machine',
      otherwise: ['warning', 'the connection to PostgreSQL is not encrypted: add ?sslmode=verify-full to DATABASE_URL'],
    }),
    checkClock('PostgreSQL', state.now),
    state.applied || suitability.status === 'ok' ? checkMigrations(state.applied, migrations) : cannotMigrate,
  ]
}

function checkSuitability({ suitability }: PostgresState, place: string, hasSeveralHosts: boolean): Finding {
  try {
    requireSuitable(suitability, place, hasSeveralHosts)
    return { id: 'database_state', status: 'ok', text: 'the database takes writes and is encoded in UTF8' }
  } catch (error) {
    return { id: 'database_state', status: 'problem', text: errorMessage(error) }
  }
}

function checkDurability({ settings }: PostgresState): Finding[] {
  const isOn = (name: 'fsync' | 'full_page_writes') => settings[name] === 'on'
  return [
    judge('database_fsync', {
      isFine: isOn('fsync') && isOn('full_page_writes'),
      fine: 'fsync and full_page_writes are on',
      otherwise: ['problem', 'fsync or full_page_writes is off: a crash can destroy the database; turn both on'],
    }),
    judge('database_synchronous_commit', {
      isFine: settings.synchronous_commit !== 'off',
      fine: `synchronous_commit is ${settings.synchronous_commit}`,
      otherwise: ['warning', 'synchronous_commit is off: a crash loses acknowledged writes; turn it on'],
    }),
  ]
}

/** Each thread also has up to two connections that listen; there is one more for the background work. */
function checkConnections(state: PostgresState, { poolSize, threads }: PostgresTarget): Finding {
  const { whose, usable, advice } = findLowestLimit(state)
  const needed = (connectionsPerThread(poolSize, threads) + 2) * threads + 1
  return judge('database_connections', {
    isFine: needed <= usable,
    fine: `a node needs up to ${needed} of ${usable} connections of ${whose}`,
    otherwise: [
      'problem',
      `a node needs ${needed} connections, ${whose} may have ${usable}: ${advice}lower THREADS, or lower DATABASE_POOL_SIZE`,
    ],
  })
}

function findLowestLimit({ settings, connectionLimits }: PostgresState) {
  const ofServer = Number(settings.max_connections) - Number(settings.superuser_reserved_connections)
  const limits = [
    { whose: 'the server', usable: ofServer, advice: '' },
    ...connectionLimits.map(({ kind, name, connections }) => ({
      whose: `the ${kind} ${name}`,
      usable: connections,
      advice: 'raise its CONNECTION LIMIT, ',
    })),
  ]
  return limits.reduce((lowest, each) => (each.usable < lowest.usable ? each : lowest))
}

const cannotMigrate: Finding = {
  id: 'migrations',
  status: 'problem',
  text: 'the database is new, and no migration can be applied: see what is said of its state',
}

function checkMigrations(applied: readonly AppliedMigration[] | undefined, migrations: readonly Migration[]): Finding {
  const id = 'migrations'
  if (!applied) return { id, status: 'ok', text: 'the database is new; the first start applies all migrations' }
  try {
    const pending = findPending(migrations, applied)
    return judge(id, {
      isFine: pending.length === 0,
      fine: `all ${applied.length} migrations are applied`,
      otherwise: [
        'warning',
        `pending: ${pending.map(({ name }) => name).join(', ')}; the next start, or "latchkey migrate", applies them`,
      ],
    })
  } catch (error) {
    if (!(error instanceof FatalError)) throw error
    return { id, status: 'problem', text: error.lines.join('; ') }
  }
}
