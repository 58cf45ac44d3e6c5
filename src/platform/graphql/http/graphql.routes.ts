/** GraphQL over HTTP: https://graphql.github.io/graphql-over-http/ */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/app-error.ts'
import type { LiveAccess } from '../../access/live-access.ts'
import { compressResponse } from '../../http/compression.ts'
import { addVary } from '../../http/vary.ts'
import type { AddressBudgets } from '../../limiter/address-budgets.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { Engine, GraphQLRequest } from '../execution/engine.types.ts'
import { readGraphQLBodies } from './bodies.ts'
import { handleGraphQLErrors } from './error-responses.ts'
import { createEventStreams } from './event-streams.ts'
import { createIdentification, type IdentificationDeps } from './identify.ts'
import { type AcceptedTypes, createNegotiation } from './media-types.ts'
import { badRequest, readParameters, readQueryString } from './parameters.ts'
import { createRequestBatches } from './request-batches.ts'
import { RequestContext } from './request-context.ts'
import { createResponseAccounting } from './response-accounting.ts'
import { sendJson } from './responses.ts'
import { createStreaming } from './streaming.ts'

export interface GraphQLRoutesDeps extends IdentificationDeps {
  engine: Engine
  liveAccess: Pick<LiveAccess, 'watch'>
  maxBatch: number
  maxCost: number
  streamsPerAddress: ConnectionsPerAddress
  budgets: AddressBudgets
}

export const graphqlPath = '/graphql'

const notAcceptable = () => new AppError(406, 'Not acceptable')
const mutationByGet = () =>
  new AppError(405, 'A mutation must be sent by POST', { code: 'mutation_by_get', headers: { allow: 'POST' } })
const noStream = () => badRequest('A subscription needs "Accept: text/event-stream", or a WebSocket')

/** Register with the prefix graphqlPath, so that its errors have the GraphQL format. */
export async function graphqlRoutes(app: FastifyInstance, deps: GraphQLRoutesDeps): Promise<void> {
  const { engine } = deps
  const negotiate = createNegotiation()
  const identification = createIdentification(deps)
  const streams = createEventStreams({ budgets: deps.budgets, perAddress: deps.streamsPerAddress })
  const stream = createStreaming({ ...deps, streams })
  const runBatch = createRequestBatches({ engine, maxRequests: deps.maxBatch, maxCost: deps.maxCost })
  const accountForResponse = createResponseAccounting(deps.budgets)
  handleGraphQLErrors(app, { engine, negotiate })
  readGraphQLBodies(app)
  // Before the server waits for its connections to close.
  app.addHook('preClose', () => streams.close())

  async function respond(request: FastifyRequest, reply: FastifyReply, parameters: GraphQLRequest): Promise<unknown> {
    const accepted = accept(request)
    const prepared = engine.prepare(parameters)
    if (prepared.kind === 'mutation' && request.method !== 'POST') throw mutationByGet()
    if (prepared.kind === 'subscription' && accepted.stream === 'refused') throw noStream()
    const { json } = accepted
    if (prepared.kind === 'subscription' || accepted.stream === 'preferred' || json === undefined) {
      return stream(request, reply, prepared)
    }
    const { text, hasData } = await engine.execute(prepared, new RequestContext(request))
    accountForResponse(request, reply, { text, isOfMutation: prepared.kind === 'mutation' })
    return sendJson(reply, { type: json, status: hasData ? 200 : 500, text })
  }

  /** Call before any work whose result the client would not accept. */
  function accept(request: FastifyRequest): AcceptedTypes {
    const accepted = negotiate(request.headers.accept)
    const { json, stream } = accepted
    // The response to HEAD would not end before the stream does.
    const canStream = stream !== 'refused' && request.method !== 'HEAD'
    if (json === undefined && !canStream) throw notAcceptable()
    return canStream === (stream !== 'refused') ? accepted : { json, stream: 'refused' }
  }

  async function respondToBatch(request: FastifyRequest, reply: FastifyReply, batch: readonly unknown[]) {
    const { json } = accept(request)
    if (json === undefined) throw notAcceptable()
    const { text, hasMutation } = await runBatch(batch, (budget) => new RequestContext(request, budget))
    accountForResponse(request, reply, { text, isOfMutation: hasMutation })
    return sendJson(reply, { type: json, status: 200, text })
  }

  const options = {
    // Each element has its own requirements.
    config: { access: ['public', { keyPermission: null }], docs: false },
    onRequest: identification.onRequest,
    onSend: compressResponse,
  } as const

  app.post('/', options, async (request, reply) => {
    if (request.principal) await identification.recheck(request)
    if (Array.isArray(request.body)) return respondToBatch(request, reply, request.body)
    return respond(request, reply, readParameters(request.body))
  })

  app.get('/', options, async (request, reply) => {
    // Responses to a token are private, and a cache cannot know whether the token is still valid.
    reply.header('cache-control', request.principal ? 'no-store' : 'no-cache')
    addVary(reply, 'accept, authorization')
    return respond(request, reply, readQueryString(request.query as Record<string, unknown>))
  })
}
