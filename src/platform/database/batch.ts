/** What both engines share about batches: filling in references, and what a deciding statement decides. */
import { isRowReference, type Param, type Statement, type Value } from './database.ts'

/** Answers the parameters with every reference replaced by the value it stands for. */
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
