/**
 * Runs statements, alone or as one transaction. Each text is a named statement of its connection; on a connection that a
 * pooler shares between transactions, it is unnamed, and always in a transaction.
 */
import type pg from 'pg'
import type { CurrentClient } from '../../../core/current-client.ts'
import { hasReferences, isUndecided, noRows, resolveParams } from '../batch.ts'
import type { Statement, Value } from '../database.ts'
import type { Borrowed, Connections } from './connections.ts'
import { isConnectionError } from './postgres-error-codes.ts'

const typesQuery = "SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'types_wanted'"

export function createStatements(connections: Pick<Connections, 'use'>) {
  async function runAll(statements: Statement[]): Promise<object[][]> {
    const [{ sql, params, rehearses } = { sql: '' } as Statement] = statements
    // A single statement is its own transaction; a deciding one without rows has changed nothing.
    if (statements.length === 1 && !rehearses) return [await runSingle(sql, resolveParams(params, []))]
    const isIndependent = !statements.some(
      (statement) => statement.decides || statement.rehearses || hasReferences(statement),
    )
    const run = isIndependent ? pipelined : stepwise
    // BEGIN and COMMIT count as statements too.
    return connections.use(statements.length + 2, (borrowed) => run(borrowed, statements))
  }

  /** It is cancelled when the client disconnects. */
  async function runSingle<Row extends object>(
    sql: string,
    values: readonly Value[],
    client?: CurrentClient,
  ): Promise<Row[]> {
    const run = async (borrowed: Borrowed) => {
      if (!borrowed.isShared) return borrowed.ask<Row>(query(borrowed, sql, values))
      const [rows] = await pipelined(borrowed, [{ sql, params: values }])
      return rows as Row[]
    }
    return connections.use(1, run, client)
  }

  /** Asks the server for the types of the parameters. Undefined where statements cannot be named. */
  async function findTypes(sql: string): Promise<readonly string[] | undefined> {
    return connections.use(3, async ({ ask, isShared }) => {
      if (isShared) return undefined
      await ask(`PREPARE types_wanted AS ${sql}`)
      const [found] = await ask<{ types: string[] }>(typesQuery)
      await ask('DEALLOCATE types_wanted')
      return found?.types
    })
  }

  /** One round trip, whatever the number of statements. */
  async function pipelined(borrowed: Borrowed, statements: Statement[]): Promise<object[][]> {
    const { ask, begin } = borrowed
    const results = await Promise.allSettled([
      begin(),
      ...statements.map(({ sql, params }) => ask(query(borrowed, sql, resolveParams(params, [])))),
      ask('COMMIT'),
    ])
    // After a failed statement the server turns COMMIT into ROLLBACK. The first failure is the cause of the others.
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
    return results.slice(1, -1).map((result) => (result as PromiseFulfilledResult<object[]>).value)
  }

  /** For batches in which a statement depends on the rows of an earlier one. */
  async function stepwise(borrowed: Borrowed, statements: Statement[]): Promise<object[][]> {
    const { ask, begin } = borrowed
    await begin()
    try {
      const rows: object[][] = []
      for (const statement of statements) {
        const { sql, params } = statement
        const found = await ask(query(borrowed, sql, resolveParams(params, rows)))
        if (isUndecided(statement, found)) {
          await ask('ROLLBACK')
          return noRows(statements)
        }
        rows.push(found)
        if (statement.rehearses) {
          await ask('ROLLBACK')
          return rows
        }
      }
      await ask('COMMIT')
      return rows
    } catch (error) {
      if (!isConnectionError(error)) await ask('ROLLBACK')
      throw error
    }
  }

  return { runSingle, runAll, findTypes }
}

function query({ nameOf }: Borrowed, sql: string, values: readonly Value[]): pg.QueryConfig {
  if (nameOf) return { name: nameOf(sql), text: sql, values: values as Value[] }
  // `extended` also without values, so that results come in the same way.
  return { text: sql, values: values as Value[], queryMode: 'extended' } as pg.QueryConfig
}
