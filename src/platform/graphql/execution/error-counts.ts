/** Counts errors by code on all transports: over HTTP most of them have status 200. */
import type { GraphQLFormattedError } from 'graphql'
import { serviceCodes } from './graphql-errors.ts'

/** Codes defined by elements share one series, to bound the cardinality of the metric. */
const otherCode = 'other'

/** All values of the metric's label. */
export const countedCodes: readonly string[] = [
  ...serviceCodes,
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'OPERATION_TOO_EXPENSIVE',
  'DOCUMENT_TOO_LARGE',
  'ANSWER_TOO_LARGE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'TOO_MANY_SUBSCRIPTIONS',
  otherCode,
]

export type CountErrors = (errors: readonly GraphQLFormattedError[]) => void

/** Counts an error object once, even if several layers report it. */
export function createErrorCounter(count: (code: string) => void): CountErrors {
  const known = new Set(countedCodes)
  const counted = new WeakSet<GraphQLFormattedError>()
  return (errors) => {
    for (const error of errors) {
      if (counted.has(error)) continue
      counted.add(error)
      const code = String(error.extensions?.code)
      count(known.has(code) ? code : otherCode)
    }
  }
}
