/**
 * Statements that return one row. Calls of the same one that are made in one turn of the event loop, or while an earlier one
 * is under way, share a round trip, which costs the server and us more than the statement itself.
 */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Value } from '../database.ts'
import { createTextCache } from '../text-cache.ts'
import { RoundTrips } from './round-trips.ts'

export interface SharedStatementsOptions {
  run(sql: string, values: readonly Value[]): Promise<object[]>
  /** The types of the parameters, as the server infers them. Undefined if they cannot be found out. */
  findTypes(sql: string): Promise<readonly string[] | undefined>
  share(sql: string, types: readonly string[]): RunTogether
  /** Whether calls whose shared round trip has failed may be made again, each alone. */
  mayRepeat(error: unknown): boolean
}

/** Returns the row of each call. */
export type RunTogether = (calls: readonly (readonly Value[])[]) => Promise<(object | undefined)[]>

interface Call {
  values: readonly Value[]
  resolve(row: object | undefined): void
  reject(error: unknown): void
}

interface SharedStatement {
  readonly sql: string
  /** Undefined until it is known whether, and how, the statement can be shared. */
  plan: RunTogether | 'alone' | undefined
  isPlanning: boolean
  waiting: Call[]
  readonly trips: RoundTrips
  readonly request: () => void
}

const maxShared = 100
/** Of a round trip. Longer values gain nothing from sharing. */
const maxCharacters = 1 << 17

export function createSharedStatements({ run, findTypes, share, mayRepeat }: SharedStatementsOptions) {
  /** Calls of one that is evicted still end; later ones do not wait for them. */
  const statements = createTextCache<SharedStatement>()
  const inTick = createTickBatcher(process.nextTick)

  function addStatement(sql: string): SharedStatement {
    const trips = new RoundTrips(() => send(statement))
    const request = () => trips.request()
    const statement: SharedStatement = { sql, plan: undefined, isPlanning: false, waiting: [], trips, request }
    statements.set(sql, statement)
    return statement
  }

  function send(statement: SharedStatement): void {
    const calls = statement.waiting
    statement.waiting = []
    for (const group of inGroups(calls)) call(statement, group)
  }

  function call(statement: SharedStatement, calls: readonly Call[]): void {
    const { plan } = statement
    if (!plan || plan === 'alone') {
      callAlone(statement, calls)
      if (!plan && calls.length > 1) void makePlan(statement)
    } else void callTogether(statement, plan, calls)
  }

  function callAlone({ sql }: SharedStatement, calls: readonly Call[]): void {
    for (const { values, resolve, reject } of calls) run(sql, values).then(([row]) => resolve(row), reject)
  }

  async function callTogether(
    statement: SharedStatement,
    runTogether: RunTogether,
    calls: readonly Call[],
  ): Promise<void> {
    const [first] = calls as [Call]
    statement.trips.begin()
    try {
      if (calls.length === 1) {
        const [row] = await run(statement.sql, first.values)
        first.resolve(row)
        return
      }
      const rows = await runTogether(calls.map(({ values }) => values))
      for (const [i, { resolve }] of calls.entries()) resolve(rows[i])
    } catch (error) {
      // Perhaps the fault of one of them: each gets its own result.
      if (calls.length > 1 && mayRepeat(error)) callAlone(statement, calls)
      else for (const { reject } of calls) reject(error)
    } finally {
      statement.trips.end()
    }
  }

  async function makePlan(statement: SharedStatement): Promise<void> {
    if (statement.isPlanning) return
    statement.isPlanning = true
    const { sql } = statement
    try {
      const types = await findTypes(sql)
      statement.plan = types && canShare(types) ? share(sql, types) : 'alone'
    } catch {
      // The connection was lost; the next calls try again.
    } finally {
      statement.isPlanning = false
    }
  }

  return (sql: string, values: readonly Value[]) =>
    new Promise<object | undefined>((resolve, reject) => {
      const statement = statements.get(sql) ?? addStatement(sql)
      if (statement.waiting.push({ values, resolve, reject }) === 1) inTick(statement.request)
    })
}

function* inGroups(calls: readonly Call[]): Generator<Call[]> {
  let group: Call[] = []
  let characters = 0
  for (const call of calls) {
    const length = charactersOf(call.values)
    if (group.length === maxShared || (group.length > 0 && characters + length > maxCharacters)) {
      yield group
      group = []
      characters = 0
    }
    group.push(call)
    characters += length
  }
  if (group.length > 0) yield group
}

function charactersOf(values: readonly Value[]): number {
  let characters = 0
  for (const value of values) {
    if (typeof value === 'string' || value instanceof Uint8Array) characters += value.length
  }
  return characters
}

/** An array of arrays would be taken apart completely. */
function canShare(types: readonly string[]): boolean {
  return types.length > 0 && types.every((type) => !type.endsWith('[]'))
}

/** The parameters of all calls as rows with a number: one array for each parameter. */
export function givenRows(types: readonly string[]): string {
  const arrays = types.map((type, i) => `$${i + 1}::${type}[]`)
  const names = types.map((_, i) => `p${i + 1}`)
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names.join(', ')}, nr)`
}

/** pg writes an array of values as one of the server. */
export function toArrays(types: readonly string[], calls: readonly (readonly Value[])[]): Value[] {
  return types.map((_, i) => calls.map((values) => values[i] as Value)) as unknown as Value[]
}
