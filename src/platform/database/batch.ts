/** Shared by both engines: row references and deciding statements of a batch. */
import { type Param, RowReference, RowReferenceList, type Statement, type Value } from './database.ts'

/** Replaces row references with their values. */
export function resolveParams(params: readonly Param[] = [], rowsSoFar: readonly object[][]): Value[] {
  const resolve = (param: Param): Value => {
    if (isReferenceList(param)) return JSON.stringify(param.items.map(resolve))
    if (!isRowReference(param)) return param
    const row = rowsSoFar[param.statement]?.[0] as Record<string, Value> | undefined
    const value = row?.[param.column]
    if (value === undefined) {
      throw new Error(`statement ${param.statement} of this batch returned no "${param.column}" to refer to`)
    }
    return value
  }
  return params.map(resolve)
}

/** By its text, because errors lose their class between threads. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof Error && /^statement \d+ of this batch returned no /.test(error.message)
}

/** Throws on values that are no SQL parameters: a driver would serialise an object or an array in its own way. */
export function requireParams(statements: readonly Statement[]): void {
  for (const { params = [] } of statements) {
    const isValue = (param: Param): param is Value =>
      !(param instanceof RowReference || param instanceof RowReferenceList)
    requireValues(params.filter(isValue))
  }
}

export function requireValues(values: readonly Value[]): void {
  for (const value of values) {
    const isValue = value === null || value instanceof Uint8Array || plainTypes.has(typeof value)
    if (!isValue) throw new TypeError(`a ${typeof value} is no SQL parameter`)
  }
}

const plainTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean'])

/** Not by class, which a reference loses on its way to a worker thread. `requireParams` has checked it before. */
function isRowReference(param: Param): param is RowReference {
  return typeof param === 'object' && param !== null && 'statement' in param
}

function isReferenceList(param: Param): param is RowReferenceList {
  return typeof param === 'object' && param !== null && 'items' in param
}

export function hasReferences(statement: Statement): boolean {
  return statement.params?.some((param) => isRowReference(param) || isReferenceList(param)) ?? false
}

/** Whether the batch must be rolled back here. */
export function isUndecided(statement: Statement, rows: readonly object[]): boolean {
  return statement.decides === true && rows.length === 0
}

export function noRows(statements: readonly Statement[]): object[][] {
  return statements.map(() => [])
}
