/** Error responses: `{"error": "<text>"}`, without internal details. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, serviceUnavailable } from '../../core/app-error.ts'
import { acceptsProblems, problemType, toProblem } from './problem-details.ts'

export const httpErrors = {
  malformedRequest: () => new AppError(400, 'Malformed request'),
  malformedBody: () => new AppError(400, 'Malformed request body'),
  missingToken: () => new AppError(401, 'Missing access token'),
  // RFC 6750, 3.1: tells the client to renew its token, not its password.
  invalidToken: (reason?: string) =>
    new AppError(401, 'Invalid access token', {
      headers: {
        'www-authenticate': `Bearer error="invalid_token"${reason === undefined ? '' : `, error_description="${reason}"`}`,
      },
      ...(reason !== undefined && { reason }),
    }),
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

export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler<unknown>((error, request, reply) => sendError(error, request, reply))
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const appError = prepareError(error, request, reply)
  if (!acceptsProblems(request.headers.accept)) return reply.send({ error: appError.message, ...appError.extra })
  return reply.type(problemType).send(JSON.stringify(toProblem(appError)))
}

/** Logs the cause and sets status and headers; the caller sends the body. */
export function prepareError(error: unknown, request: FastifyRequest, reply: FastifyReply): AppError {
  const appError = toAppError(error)
  // Load shedding must stay cheap: a 503 without a cause is not logged.
  if (appError.causeToLog !== undefined) request.log.error({ err: appError.causeToLog }, appError.message)
  if (appError.status === 401) reply.header('www-authenticate', 'Bearer')
  // The route may have set a cacheable cache-control before it failed.
  reply
    .code(appError.status)
    .header('cache-control', 'no-store')
    .headers(appError.headers ?? {})
  return appError
}

/**
 * For callbacks outside of Fastify's error handling, where an exception would end the process: fails only the request.
 */
export function guarded(request: FastifyRequest, reply: FastifyReply, work: () => void): void {
  try {
    work()
  } catch (error) {
    request.log.error({ err: error }, 'a response could not be sent')
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

/** Set by the server on every response. Any other header may be the one that could not be sent. */
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

/** Maps Fastify's own errors to `httpErrors`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (!(error instanceof Error))
    return httpErrors.internal(new Error(`a value that is not an Error was thrown: ${typeof error}`))
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return httpErrors.bodyTooLarge()
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return httpErrors.unsupportedMediaType()
    // Such as /%zz.
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return httpErrors.notFound()
    // The client disconnected while sending; the response is not read.
    case 'ECONNRESET':
      return httpErrors.malformedBody()
  }
  const isClientError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isClientError ? httpErrors.malformedBody() : httpErrors.internal(error)
}
