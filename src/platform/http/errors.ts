/** The error table: whatever goes wrong, the answer is `{"error": "<text>"}` and tells nothing it should not. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/app-error.ts'

export const httpErrors = {
  malformedBody: () => new AppError(400, 'Malformed request body'),
  missingToken: () => new AppError(401, 'Missing access token'),
  invalidToken: () => new AppError(401, 'Invalid access token'),
  forbidden: () => new AppError(403, 'Forbidden'),
  notFound: () => new AppError(404, 'Not found'),
  methodNotAllowed: (allowed: string[]) =>
    new AppError(405, 'Method not allowed', { headers: { allow: allowed.join(', ') } }),
  bodyTooLarge: () => new AppError(413, 'Request body too large'),
  unsupportedMediaType: () => new AppError(415, 'Unsupported media type'),
  internal: (cause: unknown) => new AppError(500, 'Internal server error', { cause }),
  unavailable: () => new AppError(503, 'Service unavailable', { headers: { 'retry-after': '5' } }),
}

export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler<Error>((error, request, reply) => sendError(error, request, reply))
}

export function sendError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = toAppError(error)
  if (answer.status >= 500)
    request.log.error({ err: answer.status === 500 ? error : (answer.cause ?? error) }, answer.message)
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .send({ error: answer.message, ...answer.extra })
}

/** Gives the framework's own errors the place they have in the table. */
function toAppError(error: Error & { code?: unknown; statusCode?: unknown }): AppError {
  if (error instanceof AppError) return error
  switch (error.code) {
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
  const isClientsFault = typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
  return isClientsFault ? httpErrors.malformedBody() : httpErrors.internal(error)
}
