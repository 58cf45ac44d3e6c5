/** Runs statements, alone or as one transaction. Each text is a named statement, prepared once per connection. */
import type pg from 'pg'
import { hasReferences, isUndecided, nothing, resolveParams } from '../batch.ts'
import type { Statement, Value } from '../database.ts'
import type { Ask } from './client.ts'
import type { Connections } from './connections.ts'
import { isConnectionError } from './errors.ts'

export function createStatements(connections: Pick<Connections, 'use'>) {
  const names = new Map<string, string>()

  function named(sql: string, values: readonly Value[]): pg.QueryConfig {
    let name = names.get(sql)
    if (name === undefined) {
      name = `s${names.size + 1}`
      names.set(sql, name)
    }
    return { name, text: sql, values: values as Value[] }
  }

  async function runAll(statements: Statement[]): Promise<object[][]> {
    const [{ sql, params } = { sql: '' }] = statements
    // A single statement is a transaction by itself; a deciding one that returns no row has changed none.
    if (statements.length === 1) return [await runSingle(sql, resolveParams(params, []))]
    const isIndependent = !statements.some((statement) => statement.decides || hasReferences(statement))
    const run = isIndependent ? pipelined : stepwise
    // BEGIN and COMMIT take their time too.
    return connections.use(statements.length + 2, (ask) => run(ask, statements))
  }

  async function runSingle<Row extends object>(sql: string, values: readonly Value[]): Promise<Row[]> {
    return connections.use(1, (ask) => ask<Row>(named(sql, values)))
  }

  /** Sends everything at once: one round trip, whatever the number of statements. */
  async function pipelined(ask: Ask, statements: Statement[]): Promise<object[][]> {
    const answers = await Promise.allSettled([
      ask('BEGIN'),
      ...statements.map(({ sql, params }) => ask(named(sql, resolveParams(params, [])))),
      ask('COMMIT'),
    ])
    // After a failed statement the server turns COMMIT into ROLLBACK; the first failure is the one that tells why.
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (failure) throw failure.reason
    return answers.slice(1, -1).map((answer) => (answer as PromiseFulfilledResult<object[]>).value)
  }

  /** One after the other, where a statement needs what an earlier one returned. */
  async function stepwise(ask: Ask, statements: Statement[]): Promise<object[][]> {
    await ask('BEGIN')
    try {
      const rows: object[][] = []
      for (const statement of statements) {
        const { sql, params } = statement
        const answer = await ask(named(sql, resolveParams(params, rows)))
        if (isUndecided(statement, answer)) {
          await ask('ROLLBACK')
          return nothing(statements)
        }
        rows.push(answer)
      }
      await ask('COMMIT')
      return rows
    } catch (error) {
      if (!isConnectionError(error)) await ask('ROLLBACK')
      throw error
    }
  }

  return { runSingle, runAll }
}
