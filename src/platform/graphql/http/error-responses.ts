/** Errors on the path of GraphQL have the form of GraphQL, whoever refuses the request: a hook, the router, the engine. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLFormattedError } from 'graphql'
import { httpErrors, prepareError, sendError } from '../../http/http-errors.ts'
import { pathOf } from '../../http/request-path.ts'
import type { Engine } from '../execution/engine.types.ts'
import { formatAppError, statusOf } from '../execution/graphql-errors.ts'
import { RefusedRequest, type Stage } from '../execution/refused-request.ts'
import { sendEvents } from './event-stream.ts'
import type { Accepted, JsonType } from './media-types.ts'
import { sendJson } from './responses.ts'

type Negotiate = (accept: string | undefined) => Accepted

export interface GraphQLErrorsDeps {
  engine: Pick<Engine, 'countErrors'>
  negotiate: Negotiate
}

/** Call before the routes of the plugin are added. */
export function answerGraphQLErrors(app: FastifyInstance, { engine, negotiate }: GraphQLErrorsDeps): void {
  app.setErrorHandler<unknown>((error, request, reply) => {
    // What lies below has no form of its own.
    if (request.is404 && !isEndpoint(request, app.prefix)) return sendError(error, request, reply)
    const accepted = negotiate(request.headers.accept)
    const type = errorType(accepted)
    if (error instanceof RefusedRequest) {
      engine.countErrors(error.errors)
      // In a browser nothing but its events can be read of a stream, so what is wrong with the document is one.
      const isTold = accepted.stream === 'preferred' && request.method !== 'HEAD' && error.stage !== 'parameters'
      return isTold ? sendEvents(reply, errorsText(error)) : sendRefusal(error, reply, type)
    }
    const { status, ...answer } = describe(error, request, reply)
    engine.countErrors(answer.errors)
    return sendJson(reply, { type, status, text: JSON.stringify(answer) })
  })
  // An unknown method is refused by a hook of the server. This makes the handler above the one that answers it.
  app.setNotFoundHandler(() => {
    throw httpErrors.notFound()
  })
}

function describe(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const answer = prepareError(error, request, reply)
  return { status: answer.status, errors: [formatAppError(answer)] }
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

/** GraphQL-over-HTTP, 6.4: clients of `application/json` learn what is wrong from the body alone. */
function statusOfDocument(type: JsonType): number {
  return type === 'application/json' ? 200 : 400
}

function statusOfAll([first]: readonly GraphQLFormattedError[]): number {
  return (first && statusOf(first)) ?? 400
}

/** Whoever wanted an event stream must be able to trust the status, as with the newer of the two types. */
function errorType({ json, stream }: Accepted): JsonType {
  if (stream === 'preferred') return 'application/graphql-response+json'
  return json ?? 'application/json'
}

function isEndpoint({ url }: FastifyRequest, prefix: string): boolean {
  const path = pathOf(url)
  return path === prefix || path === `${prefix}/`
}
