import type { GraphQLError, GraphQLFormattedError } from 'graphql'
import { limitError } from './error-limits.ts'

/**
 * `parameters`: it is no GraphQL request at all. `document`: it is one, but cannot be parsed, is too large or not
 * valid, or its variables do not fit. `persisted`: it names a document instead of sending it, which its client will do
 * next. `execution`: it was refused once it was to begin.
 */
export type Stage = 'parameters' | 'persisted' | 'document' | 'execution'

export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly stage: Stage
  readonly errors: readonly GraphQLFormattedError[]

  constructor(stage: Stage, errors: readonly GraphQLFormattedError[]) {
    const limited = errors.map(limitError)
    super(limited.map(({ message }) => message).join('; '))
    this.stage = stage
    this.errors = limited
  }
}

export function tooManySubscriptions(message: string): RefusedRequest {
  return new RefusedRequest('execution', [{ message, extensions: { code: 'TOO_MANY_SUBSCRIPTIONS' } }])
}

/** Of all its connections together, of whatever kind. */
export function addressHasTooManySubscriptions(): RefusedRequest {
  return tooManySubscriptions('The address has as many subscriptions as it may')
}

/** For what a document, or what comes with it, does wrong. */
export function refuseDocument(code: string, errors: readonly GraphQLError[]): RefusedRequest {
  return new RefusedRequest(
    'document',
    errors.map(({ message, locations }) => ({ message, ...(locations && { locations }), extensions: { code } })),
  )
}

export function tooExpensive(cost: number, limit: number): RefusedRequest {
  const message = `The operation may cost ${cost}, more than the ${limit} allowed: ask for less at once`
  return new RefusedRequest('document', [{ message, extensions: { code: 'OPERATION_TOO_EXPENSIVE' } }])
}
