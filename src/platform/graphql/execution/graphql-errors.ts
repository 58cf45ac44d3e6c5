/** Formats errors for clients. Unexpected errors become INTERNAL_SERVER_ERROR; their causes only go to the log. */
import { GraphQLError, type GraphQLFormattedError, Kind } from 'graphql'
import { AppError } from '../../../core/app-error.ts'
import { httpErrors } from '../../http/http-errors.ts'
import type { ContextLog } from '../schema/elements.ts'
import { limitError } from './error-limits.ts'

const codes: ReadonlyMap<number, string> = new Map([
  [400, 'BAD_REQUEST'],
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
  [408, 'REQUEST_TIMEOUT'],
  [409, 'CONFLICT'],
  [410, 'GONE'],
  [412, 'CONFLICT'],
  [413, 'REQUEST_TOO_LARGE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
  [422, 'BAD_USER_INPUT'],
  [423, 'LOCKED'],
  [429, 'TOO_MANY_REQUESTS'],
  [431, 'HEADERS_TOO_LARGE'],
  [503, 'SERVICE_UNAVAILABLE'],
])

/** The codes of all errors of the service. */
export const serviceCodes: readonly string[] = [...codes.values(), 'INTERNAL_SERVER_ERROR']

const statuses: ReadonlyMap<unknown, number> = new Map([...codes].map(([status, code]) => [code, status]))

/** The HTTP status of a response that consists of this error alone. */
export function statusOf({ extensions }: GraphQLFormattedError): number | undefined {
  // 422 is reserved for bodies that do not match a route's schema.
  return extensions?.code === 'BAD_USER_INPUT' ? 400 : statuses.get(extensions?.code)
}

/** The position of an error in the document and in the response. */
type ErrorPosition = Pick<GraphQLFormattedError, 'locations' | 'path'>

export function formatAppError(error: AppError, position: ErrorPosition = {}): GraphQLFormattedError {
  const code = codes.get(error.status) ?? 'INTERNAL_SERVER_ERROR'
  const retryAfter = error.headers?.['retry-after']
  const wait = retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }
  return { message: error.message, ...position, extensions: { code, ...wait, ...error.extra } }
}

export function formatThrown(thrown: unknown, log: ContextLog, position: ErrorPosition = {}): GraphQLFormattedError {
  const error = thrown instanceof AppError ? thrown : httpErrors.internal(thrown)
  if (error.causeToLog !== undefined) log.error({ err: error.causeToLog }, error.message)
  return formatAppError(error, position)
}

/** Executors wrap the errors that resolvers throw. */
export function formatExecutionError(error: GraphQLError, log: ContextLog): GraphQLFormattedError {
  const { message, locations, path, originalError } = error
  const position = { ...(locations && { locations }), ...(path && { path }) }
  // A GraphQLError of a resolver. Scalar types throw them too, but without a code.
  if (isGraphQLError(originalError) && originalError.extensions.code !== undefined) {
    return limitError({ message, ...position, extensions: originalError.extensions })
  }
  if (isAboutVariable(originalError ?? error)) {
    return limitError({ message, ...position, extensions: { code: 'BAD_USER_INPUT' } })
  }
  // A result that violates the schema is an unexpected error too, and its message may reveal the value.
  return formatThrown(originalError ?? error, log, position)
}

/** Also one of another copy of the library, which an extension may have, and has if the program is a bundle. */
function isGraphQLError(error: unknown): error is GraphQLError {
  return error instanceof Error && Object.prototype.toString.call(error) === '[object GraphQLError]'
}

/** A nullable variable, given as null, for a non-null argument with a default. */
function isAboutVariable(error: unknown): boolean {
  return error instanceof GraphQLError && error.nodes?.[0]?.kind === Kind.VARIABLE
}
