import type { GraphQLError, GraphQLFormattedError } from 'graphql'
import { limitError } from './error-limits.ts'

/**
 * `parameters`: not a well-formed GraphQL request. `document`: the document cannot be parsed, is too large or invalid,
 * or its variables are. `persisted`: only the hash of a document was sent; the client will retry with the document.
 * `execution`: refused when execution was about to start.
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

/** Over all sockets and event streams of the address. */
export function addressHasTooManySubscriptions(): RefusedRequest {
  return tooManySubscriptions('The address has as many subscriptions as it may')
}

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
