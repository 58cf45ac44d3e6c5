/**
 * Reads of one row. Those of the same statement that are made in one turn of the event loop, or while an earlier one is under
 * way, share a round trip, which costs the server and us more than the read itself. The statement is run once for each set of
 * parameters, by a lateral join.
 */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Value } from '../database.ts'
import { replacePlaceholders } from '../placeholders.ts'
import { RoundTrips } from './round-trips.ts'

export interface SharedReadsOptions {
  run(sql: string, values: readonly Value[]): Promise<object[]>
  /** With an array for each parameter. */
  runShared(sql: string, arrays: readonly (readonly Value[])[]): Promise<object[]>
  /** The types of the parameters, as the server has inferred them. Undefined if they cannot be found out. */
  findTypes(sql: string, values: readonly Value[]): Promise<readonly string[] | undefined>
}

interface Read {
  values: readonly Value[]
  resolve(row: object | undefined): void
  reject(error: unknown): void
}

interface SharedRow {
  /** From 1. bigint, which is parsed as a number. */
  nr: number
}

type Plan = { sql: string; withoutNr(row: object): object } | 'alone'

interface ReadStatement {
  readonly sql: string
  /** Undefined until it is known whether, and how, the statement can be shared. */
  plan: Plan | undefined
  isPlanning: boolean
  waiting: Read[]
  readonly trips: RoundTrips
  readonly request: () => void
}

const maxShared = 100

export function createSharedReads({ run, runShared, findTypes }: SharedReadsOptions) {
  const statements = new Map<string, ReadStatement>()
  const inTick = createTickBatcher(process.nextTick)

  function addStatement(sql: string): ReadStatement {
    const trips = new RoundTrips(() => send(statement))
    const request = () => trips.request()
    const statement: ReadStatement = { sql, plan: undefined, isPlanning: false, waiting: [], trips, request }
    statements.set(sql, statement)
    return statement
  }

  function send(statement: ReadStatement): void {
    const reads = statement.waiting
    statement.waiting = []
    for (let at = 0; at < reads.length; at += maxShared) read(statement, reads.slice(at, at + maxShared))
  }

  function read(statement: ReadStatement, reads: readonly Read[]): void {
    const { plan } = statement
    if (!plan || plan === 'alone') {
      readAlone(statement, reads)
      if (!plan && reads.length > 1) void makePlan(statement, reads[0] as Read)
    } else void readTogether(statement, plan, reads)
  }

  function readAlone({ sql }: ReadStatement, reads: readonly Read[]): void {
    for (const { values, resolve, reject } of reads) run(sql, values).then(([row]) => resolve(row), reject)
  }

  async function readTogether(
    statement: ReadStatement,
    plan: Exclude<Plan, 'alone'>,
    reads: readonly Read[],
  ): Promise<void> {
    const [first] = reads as [Read]
    statement.trips.begin()
    try {
      if (reads.length === 1) {
        const [row] = await run(statement.sql, first.values)
        first.resolve(row)
        return
      }
      const { asked, places } = withoutRepeats(reads)
      const arrays = first.values.map((_, i) => asked.map(({ values }) => values[i] as Value))
      const found: (SharedRow | undefined)[] = new Array(asked.length)
      for (const row of (await runShared(plan.sql, arrays)) as SharedRow[]) found[row.nr - 1] = row
      for (const [i, { resolve }] of reads.entries()) {
        const row = found[places[i] as number]
        resolve(row && plan.withoutNr(row))
      }
    } catch (error) {
      // The fault of one, or of the connection: each gets its own result.
      if (reads.length > 1) readAlone(statement, reads)
      else first.reject(error)
    } finally {
      statement.trips.end()
    }
  }

  async function makePlan(statement: ReadStatement, { values }: Read): Promise<void> {
    if (statement.isPlanning) return
    statement.isPlanning = true
    const { sql } = statement
    try {
      const types = await findTypes(sql, values)
      statement.plan = types && canShare(types) ? { sql: shareSql(sql, types), withoutNr: createWithoutNr() } : 'alone'
    } catch {
      // The connection was lost; the next reads try again.
    } finally {
      statement.isPlanning = false
    }
  }

  return {
    get: (sql: string, values: readonly Value[]) =>
      new Promise<object | undefined>((resolve, reject) => {
        const statement = statements.get(sql) ?? addStatement(sql)
        if (statement.waiting.push({ values, resolve, reject }) === 1) inTick(statement.request)
      }),
  }
}

/** Each set of parameters once, and for each read the place of its own. */
function withoutRepeats(reads: readonly Read[]): { asked: Read[]; places: number[] } {
  const placeOf = new Map<string, number>()
  const asked: Read[] = []
  const places = reads.map((read) => {
    const key = JSON.stringify(read.values)
    const known = placeOf.get(key)
    if (known !== undefined) return known
    const place = asked.push(read) - 1
    placeOf.set(key, place)
    return place
  })
  return { asked, places }
}

/** An array of arrays would be taken apart completely. */
function canShare(types: readonly string[]): boolean {
  return types.length > 0 && types.every((type) => !type.endsWith('[]'))
}

export function shareSql(sql: string, types: readonly string[]): string {
  const arrays = types.map((type, i) => `$${i + 1}::${type}[]`)
  const names = types.map((_, i) => `p${i + 1}`)
  const each = replacePlaceholders(sql, (number) => `given.p${number}`)
  return `SELECT given.nr, found.* FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names.join(', ')}, nr)
    CROSS JOIN LATERAL (SELECT * FROM (${each}) AS one LIMIT 1) AS found`
}

/** Compiled for the columns of the first row, so that all rows share one hidden class. */
function createWithoutNr(): (row: object) => object {
  let copy: ((row: object) => object) | undefined
  return (row) => {
    if (!copy) {
      const fields = Object.keys(row).filter((name) => name !== 'nr')
      const list = fields.map((name) => `${JSON.stringify(name)}: row[${JSON.stringify(name)}]`)
      copy = new Function('row', `return { ${list.join(', ')} }`) as (row: object) => object
    }
    return copy(row)
  }
}
