/** How much text an operation may read for its answer. What a document may cost counts items, and items may be long. */
import { GraphQLError } from 'graphql'
import type { Context } from './elements.ts'

/** Written down in some ten milliseconds, in which nobody else is served. */
const maxCharacters = 4 * 1024 * 1024

interface Allowance {
  left: number
  lastRead: Promise<unknown>
}

const allowances = new WeakMap<Context, Allowance>()

/**
 * The reads of one operation take turns, so that no more than one of them can go beyond what is left. Read long lists
 * in parts.
 */
export function readWithin<Row>(
  context: Context,
  sizeOf: (row: Row) => number,
  read: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const allowance = allowances.get(context) ?? { left: maxCharacters, lastRead: Promise.resolve() }
  allowances.set(context, allowance)
  const reading = allowance.lastRead.then(async () => {
    if (allowance.left < 0) throw tooLarge()
    const rows = await read()
    for (const row of rows) allowance.left -= sizeOf(row)
    if (allowance.left < 0) throw tooLarge()
    return rows
  })
  allowance.lastRead = reading.catch(() => {})
  return reading
}

function tooLarge(): GraphQLError {
  const message = `The answer would hold more than ${maxCharacters} characters: ask for less at once`
  return new GraphQLError(message, { extensions: { code: 'ANSWER_TOO_LARGE' } })
}
