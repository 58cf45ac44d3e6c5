/** The client of a request, for whom slow reads are made: they take turns by address, and end when it disconnects. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type CurrentClient, runForClient } from '../../core/current-client.ts'
import { rateKey } from '../limiter/limiter.ts'
import { addressOf, type Client, clientOf } from './client.ts'
import type { InFlight } from './in-flight.ts'

const never = { isGone: () => false, onGone: () => () => {} }

/** A client that is never gone, for work that is to be completed in any case. */
export function steadyClient(address: string): CurrentClient {
  return { key: rateKey(address), ...never }
}

export function cancellableClient({ address, isGone, onGone }: Client): CurrentClient {
  return { key: rateKey(address), isGone: isGone ?? never.isGone, onGone: onGone ?? never.onGone }
}

/** Reads of a request that changes nothing end with it. Once its response is ready, what goes on serves others too. */
function finderOf(request: FastifyRequest, inFlight: Pick<InFlight, 'has'>): () => CurrentClient {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return () =>
    isRead && inFlight.has(request) ? cancellableClient(clientOf(request)) : steadyClient(addressOf(request))
}

export type RunForRequest = (request: FastifyRequest, work: () => void) => void

export function createRunForRequest(inFlight: Pick<InFlight, 'has'>): RunForRequest {
  return (request, work) => runForClient(finderOf(request, inFlight), work)
}

/** Bodies are read by listeners, which are called outside of the request's context. */
export function keepClientAfterBody(app: FastifyInstance, runForRequest: RunForRequest): void {
  app.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => method === 'GET' || method === 'HEAD')) return
    const hooks = [route.preValidation ?? []].flat()
    route.preValidation = [(request, _reply, next) => runForRequest(request, next), ...hooks]
  })
}
