/**
 * Runs statements, alone or as one transaction. Each text is a named statement, prepared once per connection; on a
 * connection that a pooler shares between transactions, it is unnamed, and always in a transaction.
 */
import type pg from 'pg'
import { hasReferences, isUndecided, noRows, resolveParams } from '../batch.ts'
import type { Statement, Value } from '../database.ts'
import type { Borrowed, Connections } from './connections.ts'
import { isConnectionError } from './postgres-error-codes.ts'

const typesQuery = "SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'types_wanted'"

export function createStatements(connections: Pick<Connections, 'use'>) {
  const names = new Map<string, string>()

  function query(sql: string, values: readonly Value[], isShared: boolean): pg.QueryConfig {
    // `extended` also without values, so that results come in the same way.
    if (isShared) return { text: sql, values: values as Value[], queryMode: 'extended' } as pg.QueryConfig
    let name = names.get(sql)
    if (name === undefined) {
      name = `s${names.size + 1}`
      names.set(sql, name)
    }
    return { name, text: sql, values: values as Value[] }
  }

  async function runAll(statements: Statement[]): Promise<object[][]> {
    const [{ sql, params } = { sql: '' }] = statements
    // A single statement is its own transaction; a deciding one without rows has changed nothing.
    if (statements.length === 1) return [await runSingle(sql, resolveParams(params, []))]
    const isIndependent = !statements.some((statement) => statement.decides || hasReferences(statement))
    const run = isIndependent ? pipelined : stepwise
    // BEGIN and COMMIT count as statements too.
    return connections.use(statements.length + 2, (borrowed) => run(borrowed, statements))
  }

  async function runSingle<Row extends object>(sql: string, values: readonly Value[]): Promise<Row[]> {
    return connections.use(1, async (borrowed) => {
      if (!borrowed.isShared) return borrowed.ask<Row>(query(sql, values, false))
      const [rows] = await pipelined(borrowed, [{ sql, params: values }])
      return rows as Row[]
    })
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
  async function pipelined({ ask, begin, isShared }: Borrowed, statements: Statement[]): Promise<object[][]> {
    const results = await Promise.allSettled([
      begin(),
      ...statements.map(({ sql, params }) => ask(query(sql, resolveParams(params, []), isShared))),
      ask('COMMIT'),
    ])
    // After a failed statement the server turns COMMIT into ROLLBACK. The first failure is the cause of the others.
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
    return results.slice(1, -1).map((result) => (result as PromiseFulfilledResult<object[]>).value)
  }

  /** For batches in which a statement depends on the rows of an earlier one. */
  async function stepwise({ ask, begin, isShared }: Borrowed, statements: Statement[]): Promise<object[][]> {
    await begin()
    try {
      const rows: object[][] = []
      for (const statement of statements) {
        const { sql, params } = statement
        const found = await ask(query(sql, resolveParams(params, rows), isShared))
        if (isUndecided(statement, found)) {
          await ask('ROLLBACK')
          return noRows(statements)
        }
        rows.push(found)
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
