/** What every request goes through before its route: the headers of its answer, and whether it is served at all. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createTickBatcher } from '../../core/tick-batcher.ts'
import type { HeadersFor } from './cors.ts'
import { hasValidHost } from './host-header.ts'
import { guarded, httpErrors } from './http-errors.ts'
import type { LoadShedding } from './load-shedding.ts'
import type { UnknownRoutes } from './not-found.ts'
import { createPipelineLimit } from './pipelining.ts'
import { createForwardedCleaner, createProxyWarning, type IsTrusted } from './proxies.ts'

export type Begin = ReturnType<typeof createBegin>

export interface AdmissionOptions {
  begin: Begin
  /** Returns whether it has answered. */
  answerOptions(request: FastifyRequest, reply: FastifyReply): boolean
  unknownRoutes: UnknownRoutes
  loadShedding: Pick<LoadShedding, 'refusalOf'>
  isStopping(): boolean
}

/** What every request needs, also one that is refused before any hook runs. */
export function createBegin(isTrusted: IsTrusted, headersFor: HeadersFor) {
  const cleanForwardedFor = createForwardedCleaner(isTrusted)
  const warnOfProxies = createProxyWarning(isTrusted)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    request.startedAt = performance.now()
    reply.headers(headersFor(request.url, request.headers.origin)).header('x-request-id', request.id)
    warnOfProxies(request)
    cleanForwardedFor(request.raw)
  }
}

export function admitRequests(app: FastifyInstance, options: AdmissionOptions): void {
  const { begin, answerOptions, unknownRoutes, loadShedding, isStopping } = options
  const hasRoomInPipeline = createPipelineLimit()
  // Requests that arrive in the same turn of the event loop are begun together, after all of them have been read.
  const beginInBatch = createTickBatcher(setImmediate)
  app.decorateRequest('startedAt', 0)
  // One hook for all that every request needs: each further one costs as much as what it does.
  app.addHook('onRequest', (request, reply, next) => {
    begin(request, reply)
    if (!hasValidHost(request.raw)) next(httpErrors.malformedRequest())
    // Before load is shed: of a preflight that is refused, a page learns nothing at all.
    else if (request.is404 && answerOptions(request, reply)) return
    else if (isStopping() || !hasRoomInPipeline(reply.raw)) next(httpErrors.unavailable())
    else {
      const refusal = loadShedding.refusalOf(request) ?? (request.is404 ? unknownRoutes.refusalOf(request) : undefined)
      beginInBatch(() => {
        // Whoever has hung up by now needs no answer.
        if (!request.socket.destroyed) guarded(request, reply, () => next(refusal))
      })
    }
  })
}
