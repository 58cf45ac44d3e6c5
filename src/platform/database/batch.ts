/** What both engines share about batches: filling in references, and what a deciding statement decides. */
import { type Param, RowReference, type Statement, type Value } from './database.ts'

/** Returns the parameters with every reference replaced by the value it stands for. */
export function resolveParams(params: readonly Param[] = [], rowsSoFar: readonly object[][]): Value[] {
  return params.map((param) => {
    if (!isRowReference(param)) return param
    const row = rowsSoFar[param.statement]?.[0] as Record<string, Value> | undefined
    const value = row?.[param.column]
    if (value === undefined) {
      throw new Error(`statement ${param.statement} of this batch returned no "${param.column}" to refer to`)
    }
    return value
  })
}

/** Throws on what is no parameter: an engine would make something of it that nobody asked for. */
export function requireParams(statements: readonly Statement[]): void {
  for (const { params = [] } of statements) {
    requireValues(params.filter((param): param is Value => !(param instanceof RowReference)))
  }
}

export function requireValues(values: readonly Value[]): void {
  for (const value of values) {
    const isValue = value === null || value instanceof Uint8Array || plainTypes.has(typeof value)
    if (!isValue) throw new TypeError(`a ${typeof value} is no SQL parameter`)
  }
}

const plainTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean'])

/** On its way to another thread a reference loses its class: only what passed requireParams gets there. */
function isRowReference(param: Param): param is RowReference {
  return typeof param === 'object' && param !== null && 'statement' in param
}

export function hasReferences(statement: Statement): boolean {
  return statement.params?.some(isRowReference) ?? false
}

/** Whether the batch ends here with nothing done. */
export function isUndecided(statement: Statement, rows: readonly object[]): boolean {
  return statement.decides === true && rows.length === 0
}

export function nothing(statements: readonly Statement[]): object[][] {
  return statements.map(() => [])
}
