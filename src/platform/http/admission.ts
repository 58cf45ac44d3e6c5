/** Runs before every route: sets response headers, and refuses requests that are not served at all. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createTickBatcher } from '../../core/tick-batcher.ts'
import type { ProcessParts } from '../threads/process-parts.ts'
import type { Closing } from './closing.ts'
import type { HeadersFor } from './cors.ts'
import { hasValidHost } from './host-header.ts'
import { guarded, httpErrors } from './http-errors.ts'
import type { InFlight } from './in-flight.ts'
import type { LoadShedding } from './load-shedding.ts'
import type { UnknownRoutes } from './not-found.ts'
import { createPipelineLimit } from './pipelining.ts'
import { createForwardedCleaner, createProxyWarning, type IsTrusted } from './proxies.ts'
import { createRunForRequest, keepClientAfterBody } from './request-client.ts'

export type InitializeRequest = ReturnType<typeof createRequestInitializer>

export interface AdmissionOptions {
  initialize: InitializeRequest
  /** Returns whether a response has been sent. */
  handleOptions(request: FastifyRequest, reply: FastifyReply): boolean
  unknownRoutes: UnknownRoutes
  loadShedding: Pick<LoadShedding, 'refusalOf'>
  inFlight: InFlight
  closing: Pick<Closing, 'isDraining' | 'isRefusing'>
}

/** Also needed for requests that are refused before any hook runs. */
export function createRequestInitializer(
  isTrusted: IsTrusted,
  headersFor: HeadersFor,
  claimOnce: ProcessParts['claimOnce'],
) {
  const cleanForwardedFor = createForwardedCleaner(isTrusted)
  const warnOfProxies = createProxyWarning(isTrusted, claimOnce)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    request.startedAt = performance.now()
    reply.headers(headersFor(request.url, request.headers.origin)).header('x-request-id', request.id)
    warnOfProxies(request)
    cleanForwardedFor(request.raw)
  }
}

export function admitRequests(app: FastifyInstance, options: AdmissionOptions): void {
  const { initialize, handleOptions, unknownRoutes, loadShedding, inFlight, closing } = options
  const hasRoomInPipeline = createPipelineLimit()
  // Requests that arrive in the same tick of the event loop start together, after all of them have been read.
  const startInBatch = createTickBatcher(setImmediate)
  const runForRequest = createRunForRequest(inFlight)
  keepClientAfterBody(app, runForRequest)
  app.decorateRequest('startedAt', 0)
  // A single hook, because the overhead of another one exceeds the cost of its work.
  app.addHook('onRequest', (request, reply, next) => {
    initialize(request, reply)
    inFlight.begin(request, reply)
    if (closing.isDraining()) reply.header('connection', 'close')
    if (!hasValidHost(request.raw)) next(httpErrors.malformedRequest())
    // Before load shedding: a page cannot read the reason of a refused preflight.
    else if (request.is404 && handleOptions(request, reply)) return
    else if (closing.isRefusing() || !hasRoomInPipeline(reply.raw)) next(httpErrors.unavailable())
    else {
      const refusal = loadShedding.refusalOf(request) ?? (request.is404 ? unknownRoutes.refusalOf(request) : undefined)
      startInBatch(() => {
        // The client may have disconnected.
        if (request.socket.destroyed) inFlight.end(request)
        else guarded(request, reply, () => runForRequest(request, () => next(refusal)))
      })
    }
  })
}
