/** The error table: whatever goes wrong, the answer is `{"error": "<text>"}` and tells nothing it should not. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, serviceUnavailable } from '../../core/app-error.ts'
import { problemType, takesProblems, toProblem } from './problem-details.ts'

export const httpErrors = {
  malformedRequest: () => new AppError(400, 'Malformed request'),
  malformedBody: () => new AppError(400, 'Malformed request body'),
  missingToken: () => new AppError(401, 'Missing access token'),
  // RFC 6750, 3.1: tells a client that it is the token, and not a password, that has to be renewed.
  invalidToken: () =>
    new AppError(401, 'Invalid access token', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }),
  forbidden: () => new AppError(403, 'Forbidden'),
  notFound: () => new AppError(404, 'Not found'),
  methodNotAllowed: (allowed: string[]) =>
    new AppError(405, 'Method not allowed', { headers: { allow: allowed.join(', ') } }),
  requestTimeout: () => new AppError(408, 'Request timeout'),
  bodyTooLarge: () => new AppError(413, 'Request body too large'),
  unsupportedMediaType: () => new AppError(415, 'Unsupported media type'),
  headersTooLarge: () => new AppError(431, 'Request headers too large'),
  internal: (cause: unknown) => new AppError(500, 'Internal server error', { cause }),
  unavailable: () => serviceUnavailable(),
}

export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler<unknown>((error, request, reply) => sendError(error, request, reply))
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = prepareError(error, request, reply)
  if (!takesProblems(request.headers.accept)) return reply.send({ error: answer.message, ...answer.extra })
  return reply.type(problemType).send(JSON.stringify(toProblem(answer)))
}

/** All of the answer to an error but its body. */
export function prepareError(error: unknown, request: FastifyRequest, reply: FastifyReply): AppError {
  const answer = toAppError(error)
  // Refusing work must not make more of it: a 503 without a cause, as under load, is not worth a line of its own.
  if (answer.causeToLog !== undefined) request.log.error({ err: answer.causeToLog }, answer.message)
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer')
  // The route may have said that its answer can be kept, and then failed.
  reply
    .code(answer.status)
    .header('cache-control', 'no-store')
    .headers(answer.headers ?? {})
  return answer
}

/**
 * For work that runs outside of the framework's sight, where what is thrown would end the process: the request fails,
 * and nothing else does.
 */
export function guarded(request: FastifyRequest, reply: FastifyReply, work: () => void): void {
  try {
    work()
  } catch (error) {
    request.log.error({ err: error }, 'an answer could not be sent')
    const { raw } = reply
    if (raw.headersSent) {
      raw.destroy()
      return
    }
    const body = JSON.stringify({ error: httpErrors.internal(error).message })
    for (const name of raw.getHeaderNames()) raw.removeHeader(name)
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }
    raw.writeHead(500, { ...keptHeaders(reply), ...headers, 'cache-control': 'no-store' }).end(body)
  }
}

/** Those that the server gives every answer. Of the others one may be what could not be sent. */
const serverHeaders = [
  'access-control-allow-origin',
  'access-control-expose-headers',
  'content-security-policy',
  'referrer-policy',
  'strict-transport-security',
  'vary',
  'x-content-type-options',
  'x-request-id',
]

function keptHeaders(reply: FastifyReply): Record<string, string> {
  const kept = serverHeaders.filter((name) => reply.hasHeader(name))
  return Object.fromEntries(kept.map((name) => [name, String(reply.getHeader(name))]))
}

/** Gives the framework's own errors the place they have in the table. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (!(error instanceof Error))
    return httpErrors.internal(new Error(`something that is no error was thrown: ${typeof error}`))
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return httpErrors.bodyTooLarge()
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return httpErrors.unsupportedMediaType()
    // A path such as /%zz names nothing.
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return httpErrors.notFound()
    // The client hung up while it was still sending; nobody reads the answer.
    case 'ECONNRESET':
      return httpErrors.malformedBody()
  }
  const isClientsFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isClientsFault ? httpErrors.malformedBody() : httpErrors.internal(error)
}
