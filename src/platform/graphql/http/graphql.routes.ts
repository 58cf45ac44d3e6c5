/** GraphQL over HTTP, as its specification has it: https://graphql.github.io/graphql-over-http/ */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/app-error.ts'
import type { LiveAccess } from '../../access/live-access.ts'
import type { Authenticate } from '../../access/route-guards.ts'
import { compressResponse } from '../../http/compression.ts'
import { addVary } from '../../http/vary.ts'
import type { AddressBudgets } from '../../limiter/address-budgets.ts'
import type { Engine, GraphQLRequest } from '../execution/engine.types.ts'
import { readGraphQLBodies } from './bodies.ts'
import { answerGraphQLErrors } from './error-responses.ts'
import { createEventStreams } from './event-streams.ts'
import { createHeldAnswers } from './held-answers.ts'
import { createIdentification } from './identify.ts'
import { type Accepted, createNegotiation } from './media-types.ts'
import { badRequest, readParameters, readQueryString } from './parameters.ts'
import { createRequestBatches } from './request-batches.ts'
import { RequestContext } from './request-context.ts'
import { sendJson } from './responses.ts'
import { createStreaming } from './streaming.ts'

export interface GraphQLRoutesDeps {
  engine: Engine
  authenticate: Authenticate
  liveAccess: Pick<LiveAccess, 'watch'>
  maxBatch: number
  maxCost: number
  maxStreamsPerAddress: number
  budgets: AddressBudgets
}

export const graphqlPath = '/graphql'

const notAcceptable = () => new AppError(406, 'Not acceptable')
const mutationByGet = () =>
  new AppError(405, 'A mutation must be sent by POST', { code: 'mutation_by_get', headers: { allow: 'POST' } })
const noStream = () => badRequest('A subscription needs "Accept: text/event-stream", or a WebSocket')

/** A plugin below graphqlPath, so that its errors have the form of GraphQL. */
export async function graphqlRoutes(app: FastifyInstance, deps: GraphQLRoutesDeps): Promise<void> {
  const { engine } = deps
  const negotiate = createNegotiation()
  const identification = createIdentification(deps.authenticate)
  const streams = createEventStreams({ budgets: deps.budgets, maxPerAddress: deps.maxStreamsPerAddress })
  const stream = createStreaming({ ...deps, streams })
  const runBatch = createRequestBatches({ engine, maxRequests: deps.maxBatch, maxCost: deps.maxCost })
  const holdAnswer = createHeldAnswers(deps.budgets)
  answerGraphQLErrors(app, { engine, negotiate })
  readGraphQLBodies(app)
  // Before the server waits for its connections to end.
  app.addHook('preClose', () => streams.close())

  async function answer(request: FastifyRequest, reply: FastifyReply, asked: GraphQLRequest): Promise<unknown> {
    const accepted = accept(request)
    const prepared = engine.prepare(asked)
    if (prepared.kind === 'mutation' && request.method !== 'POST') throw mutationByGet()
    if (prepared.kind === 'subscription' && accepted.stream === 'refused') throw noStream()
    const { json } = accepted
    if (prepared.kind === 'subscription' || accepted.stream === 'preferred' || json === undefined) {
      return stream(request, reply, prepared)
    }
    const { text, hasData } = await engine.execute(prepared, new RequestContext(request))
    holdAnswer(request, reply, { text, isOfMutation: prepared.kind === 'mutation' })
    return sendJson(reply, { type: json, status: hasData ? 200 : 500, text })
  }

  /** Before anything is done that nobody would read of. */
  function accept(request: FastifyRequest): Accepted {
    const accepted = negotiate(request.headers.accept)
    const { json, stream } = accepted
    // The head alone of a stream would be awaited for as long as the stream lasts.
    const canStream = stream !== 'refused' && request.method !== 'HEAD'
    if (json === undefined && !canStream) throw notAcceptable()
    return canStream === (stream !== 'refused') ? accepted : { json, stream: 'refused' }
  }

  async function answerBatch(request: FastifyRequest, reply: FastifyReply, batch: readonly unknown[]) {
    const { json } = accept(request)
    if (json === undefined) throw notAcceptable()
    const { text, hasMutation } = await runBatch(batch, (budget) => new RequestContext(request, budget))
    holdAnswer(request, reply, { text, isOfMutation: hasMutation })
    return sendJson(reply, { type: json, status: 200, text })
  }

  const options = {
    config: { access: 'public', docs: false },
    onRequest: identification.onRequest,
    onSend: compressResponse,
  } as const

  app.post('/', options, async (request, reply) => {
    if (request.principal) await identification.again(request)
    if (Array.isArray(request.body)) return answerBatch(request, reply, request.body)
    return answer(request, reply, readParameters(request.body))
  })

  app.get('/', options, async (request, reply) => {
    // What was asked with a token is for its bearer alone, and no cache can tell whether it still holds.
    reply.header('cache-control', request.principal ? 'no-store' : 'no-cache')
    addVary(reply, 'accept, authorization')
    return answer(request, reply, readQueryString(request.query as Record<string, unknown>))
  })
}
