/** Counts errors by their code, whatever transport answers them: over HTTP most of them are a 200. */
import type { GraphQLFormattedError } from 'graphql'
import { serviceCodes } from './errors.ts'

/** Elements may have codes of their own; a metric must not have a series for each. */
const otherCode = 'other'

const knownCodes: ReadonlySet<string> = new Set([
  ...serviceCodes,
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'OPERATION_TOO_EXPENSIVE',
  'DOCUMENT_TOO_LARGE',
  'ANSWER_TOO_LARGE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'TOO_MANY_SUBSCRIPTIONS',
])

export function createErrorCounts() {
  // Those that must be noticed are told from the start: a series that appears with its first error shows no rise.
  const counts: Record<string, number> = { INTERNAL_SERVER_ERROR: 0, [otherCode]: 0 }
  const counted = new WeakSet<GraphQLFormattedError>()

  return {
    add(errors: readonly GraphQLFormattedError[]): void {
      for (const error of errors) {
        if (counted.has(error)) continue
        counted.add(error)
        const code = String(error.extensions?.code)
        const known = knownCodes.has(code) ? code : otherCode
        counts[known] = (counts[known] ?? 0) + 1
      }
    },
    read: (): Readonly<Record<string, number>> => counts,
  }
}

export type ErrorCounts = ReturnType<typeof createErrorCounts>
