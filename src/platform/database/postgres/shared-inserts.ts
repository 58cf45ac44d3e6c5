/** Inserts of one row each. Those that are made at the same time are one statement, and one commit. */
import { replacePlaceholders } from '../placeholders.ts'
import { isDataError } from './postgres-error-codes.ts'
import { createSharedStatements, givenRows, type SharedStatementsOptions, toArrays } from './shared-statements.ts'

export function createSharedInserts({ run, findTypes }: Pick<SharedStatementsOptions, 'run' | 'findTypes'>) {
  return createSharedStatements({
    run,
    findTypes,
    // After a lost connection nobody knows whether the rows are there.
    mayRepeat: isDataError,
    share(sql, types) {
      const shared = shareInsert(sql, types)
      return async (calls) => {
        const rows = (await run(shared, toArrays(types, calls))) as { id: number }[]
        if (rows.length !== calls.length)
          throw new Error(`${calls.length} rows were inserted and ${rows.length} returned`)
        // Ids are assigned after ORDER BY; nothing promises the order in which RETURNING lists the rows.
        return rows.sort((a, b) => a.id - b.id)
      }
    },
  })
}

export function shareInsert(sql: string, types: readonly string[]): string {
  const start = sql.indexOf(opening)
  const end = sql.lastIndexOf(closing)
  if (!sql.startsWith('INSERT INTO ') || start < 0 || end < start) {
    throw new Error(`not an INSERT of one row that returns it: ${sql}`)
  }
  const each = replacePlaceholders(sql.slice(start + opening.length, end), (number) => `given.p${number}`)
  const rows = `SELECT ${each} FROM ${givenRows(types)} ORDER BY given.nr`
  return `${sql.slice(0, start)}${rows} RETURNING ${sql.slice(end + closing.length)}`
}

const opening = 'VALUES ('
const closing = ') RETURNING '
