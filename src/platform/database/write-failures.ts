import { AppError } from '../../core/app-error.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { ConstraintError, type Database, type Statement } from './database.ts'
import { isDiskFull, isReadOnly } from './postgres/postgres-error-codes.ts'
import { faultOf } from './sqlite/faults.ts'

const causes = ['full', 'read_only', 'damaged', 'unavailable', 'other'] as const
type Cause = (typeof causes)[number]

/** Counts the writes that the database fails. Violated constraints are the answer to a request, and not counted. */
export function countWriteFailures(db: Database, metrics: Metrics | undefined): Database {
  const count = metrics?.addCounter({
    name: 'database_write_failures_total',
    help: 'Writes that failed, by cause.',
    label: { name: 'cause', values: causes },
  })
  if (!count) return db
  return {
    ...db,
    // The overloads of the interface only narrow the row types.
    write: (async (...statements: Statement[]) => {
      try {
        return await db.write(...statements)
      } catch (error) {
        if (!(error instanceof ConstraintError)) count(causeOf(error))
        throw error
      }
    }) as Database['write'],
  }
}

function causeOf(error: unknown): Cause {
  const isUnavailable = error instanceof AppError && error.status === 503
  const cause = isUnavailable ? error.cause : error
  const fault = faultOf(cause)
  if (fault === 'full' || isDiskFull(cause)) return 'full'
  if (fault === 'readOnly' || isReadOnly(cause)) return 'read_only'
  if (fault === 'damaged') return 'damaged'
  return isUnavailable ? 'unavailable' : 'other'
}
