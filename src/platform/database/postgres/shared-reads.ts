/** Reads of one row. The statement is run once for each set of parameters, by a lateral join. */
import type { Value } from '../database.ts'
import { replacePlaceholders } from '../placeholders.ts'
import { createSharedStatements, givenRows, type SharedStatementsOptions, toArrays } from './shared-statements.ts'

interface SharedRow {
  /** From 1. bigint, which is parsed as a number. */
  nr: number
}

export function createSharedReads({ run, findTypes }: Pick<SharedStatementsOptions, 'run' | 'findTypes'>) {
  return createSharedStatements({
    run,
    findTypes,
    mayRepeat: () => true,
    share(sql, types) {
      const shared = shareSql(sql, types)
      const withoutNr = createWithoutNr()
      return async (calls) => {
        const { asked, places } = withoutRepeats(calls)
        const found: (SharedRow | undefined)[] = new Array(asked.length)
        for (const row of (await run(shared, toArrays(types, asked))) as SharedRow[]) found[row.nr - 1] = row
        return places.map((place) => {
          const row = found[place]
          return row && withoutNr(row)
        })
      }
    },
  })
}

/** Each set of parameters once, and for each call the place of its own. */
function withoutRepeats(calls: readonly (readonly Value[])[]): { asked: (readonly Value[])[]; places: number[] } {
  const placeOf = new Map<string, number>()
  const asked: (readonly Value[])[] = []
  const places = calls.map((values) => {
    const key = JSON.stringify(values)
    const known = placeOf.get(key)
    if (known !== undefined) return known
    const place = asked.push(values) - 1
    placeOf.set(key, place)
    return place
  })
  return { asked, places }
}

export function shareSql(sql: string, types: readonly string[]): string {
  const each = replacePlaceholders(sql, (number) => `given.p${number}`)
  return `SELECT given.nr, found.* FROM ${givenRows(types)}
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
