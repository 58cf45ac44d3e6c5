/** A database whose operations are spans. Only within a trace: background work would fill the collector with its own. */
import type { Database, Statement, Value } from '../database/database.ts'
import { createTextCache } from '../database/text-cache.ts'
import type { Attributes, Tracing } from './tracing.ts'

const systems = { sqlite: 'sqlite', postgres: 'postgresql' } as const
const maxSummary = 255

export function traceDatabase(db: Database, tracing: Tracing): Database {
  const summaryOf = createSummaries()

  function traced<T>(method: string, summary: () => Attributes, work: () => Promise<T>): Promise<T> {
    if (!tracing.current()?.context.isSampled) return work()
    const attributes = summary()
    const name = String(attributes['db.query.summary'])
    const common = { 'db.system.name': systems[db.dialect], 'latchkey.database.method': method }
    return tracing.span({ name, kind: 'client', attributes: { ...common, ...attributes } }, work)
  }

  const ofOne = (sql: string) => () => ({
    'db.operation.name': operationOf(sql),
    'db.query.summary': summaryOf(sql),
  })

  function ofAll(statements: readonly Statement[]): Attributes {
    const [first] = statements
    if (statements.length === 1 && first) return ofOne(first.sql)()
    const summaries = [...new Set(statements.map(({ sql }) => summaryOf(sql)))]
    return {
      'db.operation.name': 'BATCH',
      'db.operation.batch.size': statements.length,
      'db.query.summary': `BATCH ${summaries.join('; ')}`.slice(0, maxSummary),
    }
  }

  return {
    ...db,
    get: <Row extends object>(sql: string, params?: readonly Value[]) =>
      traced('get', ofOne(sql), () => db.get<Row>(sql, params)),
    all: <Row extends object>(sql: string, params?: readonly Value[]) =>
      traced('all', ofOne(sql), () => db.all<Row>(sql, params)),
    scan: <Row extends object>(sql: string, params?: readonly Value[]) =>
      traced('scan', ofOne(sql), () => db.scan<Row>(sql, params)),
    // The overloads of the interface only narrow the row types.
    write: ((...statements: Statement[]) =>
      traced(
        'write',
        () => ofAll(statements),
        () => db.write(...statements),
      )) as Database['write'],
  }
}

/** "SELECT products": the operation and its first table, without values. */
function createSummaries(): (sql: string) => string {
  const known = createTextCache<string>()
  return (sql) => {
    let summary = known.get(sql)
    if (summary === undefined) {
      const table = /\b(?:FROM|INTO|UPDATE) (\w{1,63})/.exec(sql.replaceAll(/\s+/g, ' '))?.[1]
      summary = table === undefined ? operationOf(sql) : `${operationOf(sql)} ${table}`
      known.set(sql, summary)
    }
    return summary
  }
}

function operationOf(sql: string): string {
  return /^[A-Za-z]{1,20}/.exec(sql.trimStart())?.[0].toUpperCase() ?? 'QUERY'
}
