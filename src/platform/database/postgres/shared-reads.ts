/**
 * Reads of one row. Those of the same statement that are made in one turn of the event loop share a round trip, which costs
 * the server and us more than the read itself. The statement is run for each set of parameters by a lateral join.
 */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Value } from '../database.ts'
import { replacePlaceholders } from '../placeholders.ts'

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

/** Undefined until it is known whether, and how, the statement can be shared. */
type Plan = { sql: string; withoutNr(row: object): object } | 'alone'

const maxShared = 100

export function createSharedReads({ run, runShared, findTypes }: SharedReadsOptions) {
  const plans = new Map<string, Plan>()
  const planning = new Set<string>()
  const inTick = createTickBatcher(process.nextTick)
  let waiting = new Map<string, Read[]>()

  function flush(): void {
    const groups = waiting
    waiting = new Map()
    for (const [sql, reads] of groups) {
      for (let at = 0; at < reads.length; at += maxShared) read(sql, reads.slice(at, at + maxShared))
    }
  }

  function read(sql: string, reads: readonly Read[]): void {
    const plan = plans.get(sql)
    if (reads.length === 1 || plan === 'alone') readAlone(sql, reads)
    else if (plan) void readTogether(sql, plan, reads)
    else {
      readAlone(sql, reads)
      void makePlan(sql, reads[0] as Read)
    }
  }

  function readAlone(sql: string, reads: readonly Read[]): void {
    for (const { values, resolve, reject } of reads) run(sql, values).then(([row]) => resolve(row), reject)
  }

  async function readTogether(sql: string, plan: Exclude<Plan, 'alone'>, reads: readonly Read[]): Promise<void> {
    const [first] = reads as [Read]
    const arrays = first.values.map((_, i) => reads.map(({ values }) => values[i] as Value))
    try {
      const rows = (await runShared(plan.sql, arrays)) as SharedRow[]
      const found: (object | undefined)[] = new Array(reads.length)
      for (const row of rows) found[row.nr - 1] = plan.withoutNr(row)
      for (const [i, { resolve }] of reads.entries()) resolve(found[i])
    } catch {
      // The fault of one, or of the connection: each gets its own result.
      readAlone(sql, reads)
    }
  }

  async function makePlan(sql: string, { values }: Read): Promise<void> {
    if (planning.has(sql)) return
    planning.add(sql)
    try {
      const types = await findTypes(sql, values)
      plans.set(sql, types && canShare(types) ? { sql: shareSql(sql, types), withoutNr: createWithoutNr() } : 'alone')
    } catch {
      // The connection was lost; the next reads try again.
    } finally {
      planning.delete(sql)
    }
  }

  return {
    get: (sql: string, values: readonly Value[]) =>
      new Promise<object | undefined>((resolve, reject) => {
        const reads = waiting.get(sql)
        if (reads) reads.push({ values, resolve, reject })
        else {
          if (waiting.size === 0) inTick(flush)
          waiting.set(sql, [{ values, resolve, reject }])
        }
      }),
  }
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
