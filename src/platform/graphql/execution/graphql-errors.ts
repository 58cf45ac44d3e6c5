/** What clients are told of errors: those meant for them as they are, of all others only that there was one. */
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
  [412, 'CONFLICT'],
  [413, 'REQUEST_TOO_LARGE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
  [422, 'BAD_USER_INPUT'],
  [423, 'LOCKED'],
  [429, 'TOO_MANY_REQUESTS'],
  [431, 'HEADERS_TOO_LARGE'],
  [503, 'SERVICE_UNAVAILABLE'],
])

/** The codes that errors of the service have. */
export const serviceCodes: readonly string[] = [...codes.values(), 'INTERNAL_SERVER_ERROR']

const statuses: ReadonlyMap<unknown, number> = new Map([...codes].map(([status, code]) => [code, status]))

/** The status that stands for an error, where it is all that there is to answer. */
export function statusOf({ extensions }: GraphQLFormattedError): number | undefined {
  // Over HTTP 422 is said of bodies that a schema describes, which these are not.
  return extensions?.code === 'BAD_USER_INPUT' ? 400 : statuses.get(extensions?.code)
}

/** The place of an error in the document and in the answer. */
type Place = Pick<GraphQLFormattedError, 'locations' | 'path'>

/** An error of the service as an error of GraphQL. */
export function formatAppError(error: AppError, place: Place = {}): GraphQLFormattedError {
  const code = codes.get(error.status) ?? 'INTERNAL_SERVER_ERROR'
  const retryAfter = error.headers?.['retry-after']
  const wait = retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }
  return { message: error.message, ...place, extensions: { code, ...wait, ...error.extra } }
}

/** Whatever was thrown while an answer was made. */
export function formatThrown(thrown: unknown, log: ContextLog, place: Place = {}): GraphQLFormattedError {
  const error = thrown instanceof AppError ? thrown : httpErrors.internal(thrown)
  if (error.causeToLog !== undefined) log.error({ err: error.causeToLog }, error.message)
  return formatAppError(error, place)
}

/** An error from the execution. The executors wrap what a resolver threw. */
export function formatExecutionError(error: GraphQLError, log: ContextLog): GraphQLFormattedError {
  const { message, locations, path, originalError } = error
  const place = { ...(locations && { locations }), ...(path && { path }) }
  // Thrown by a resolver that speaks GraphQL itself. The types throw such errors too, but without a code.
  if (originalError instanceof GraphQLError && originalError.extensions.code !== undefined) {
    return limitError({ message, ...place, extensions: originalError.extensions })
  }
  if (isAboutVariable(originalError ?? error)) {
    return limitError({ message, ...place, extensions: { code: 'BAD_USER_INPUT' } })
  }
  // A resolver that broke its own schema is unforeseen too, and the message may tell the value.
  return formatThrown(originalError ?? error, log, place)
}

/** A variable that may be null by its type, and is, where an argument with a default may not be. */
function isAboutVariable(error: unknown): boolean {
  return error instanceof GraphQLError && error.nodes?.[0]?.kind === Kind.VARIABLE
}
