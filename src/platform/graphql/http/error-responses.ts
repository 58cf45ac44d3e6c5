/** Errors of the endpoint have the GraphQL format, whether from a hook, the router or the engine. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLFormattedError } from 'graphql'
import { isClientGone } from '../../../core/current-client.ts'
import { httpErrors, prepareError, sendError } from '../../http/http-errors.ts'
import { pathOf } from '../../http/request-path.ts'
import type { Engine } from '../execution/engine.types.ts'
import { formatAppError, statusOf } from '../execution/graphql-errors.ts'
import { RefusedRequest, type Stage } from '../execution/refused-request.ts'
import { sendEvents } from './event-stream.ts'
import type { AcceptedTypes, JsonType } from './media-types.ts'
import { sendJson } from './responses.ts'

type Negotiate = (accept: string | undefined) => AcceptedTypes

export interface GraphQLErrorsDeps {
  engine: Pick<Engine, 'countErrors'>
  negotiate: Negotiate
}

/** Call before the plugin's routes are added. */
export function handleGraphQLErrors(app: FastifyInstance, { engine, negotiate }: GraphQLErrorsDeps): void {
  app.setErrorHandler<unknown>((error, request, reply) => {
    // Unknown paths below the endpoint keep the general error format.
    if (request.is404 && !isEndpoint(request, app.prefix)) return sendError(error, request, reply)
    const accepted = negotiate(request.headers.accept)
    const type = errorType(accepted)
    if (error instanceof RefusedRequest) {
      engine.countErrors(error.errors)
      // EventSource in browsers exposes only events, so errors of the document are sent as one.
      const isEvent = accepted.stream === 'preferred' && request.method !== 'HEAD' && error.stage !== 'parameters'
      return isEvent ? sendEvents(reply, errorsText(error)) : sendRefusal(error, reply, type)
    }
    const { status, ...body } = describe(error, request, reply)
    if (!isClientGone(error)) engine.countErrors(body.errors)
    return sendJson(reply, { type, status, text: JSON.stringify(body) })
  })
  // A hook of the server refuses unknown methods. With this, the handler above formats that error.
  app.setNotFoundHandler(() => {
    throw httpErrors.notFound()
  })
}

function describe(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const appError = prepareError(error, request, reply)
  return { status: appError.status, errors: [formatAppError(appError)] }
}

function statusOfRefusal(stage: Stage, errors: readonly GraphQLFormattedError[], type: JsonType): number {
  switch (stage) {
    case 'persisted':
      return 200
    case 'document':
      return statusOfDocument(type)
    case 'execution':
      return statusOfAll(errors)
    default:
      return 400
  }
}

function sendRefusal({ stage, errors }: RefusedRequest, reply: FastifyReply, type: JsonType): FastifyReply {
  const status = statusOfRefusal(stage, errors, type)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  return sendJson(reply, { type, status, text: errorsText({ errors }) })
}

function errorsText({ errors }: Pick<RefusedRequest, 'errors'>): string {
  return JSON.stringify({ errors })
}

/** GraphQL-over-HTTP, 6.4: with `application/json` the status is 200, and errors are only in the body. */
function statusOfDocument(type: JsonType): number {
  return type === 'application/json' ? 200 : 400
}

function statusOfAll([first]: readonly GraphQLFormattedError[]): number {
  return (first && statusOf(first)) ?? 400
}

/** For event streams the newer type, because only its status reflects the error. */
function errorType({ json, stream }: AcceptedTypes): JsonType {
  if (stream === 'preferred') return 'application/graphql-response+json'
  return json ?? 'application/json'
}

function isEndpoint({ url }: FastifyRequest, prefix: string): boolean {
  const path = pathOf(url)
  return path === prefix || path === `${prefix}/`
}
