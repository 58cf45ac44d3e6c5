/**
 * Keeps `request.principal` current for requests that last: long polls, and responses that are streams. Those that last
 * no longer than a moment cost nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onResponseEnd } from '../http/response-end.ts'
import type { LiveAccess } from './live-access.ts'
import { bearerOf, type Guard } from './route-guards.ts'

export interface LongRequestsDeps {
  liveAccess: Pick<LiveAccess, 'watch'>
  /** Without a response yet. */
  requests(): Iterable<[FastifyRequest, FastifyReply]>
  /** Undefined if the route is public. */
  guardOf(request: FastifyRequest): Guard | undefined
}

export interface LongRequests {
  /** Call for a response that is sent over time. */
  addStream(request: FastifyRequest, reply: FastifyReply): void
  close(): void
}

const sweepMs = 400
const eventStreamType = 'text/event-stream'

export function createLongRequests({ liveAccess, requests, guardOf }: LongRequestsDeps): LongRequests {
  const streams = new Map<FastifyRequest, FastifyReply>()
  const watched = new WeakSet<FastifyRequest>()
  let count = 0

  function watch(request: FastifyRequest, reply: FastifyReply): void {
    const { principal } = request
    if (!principal || watched.has(request)) return
    const credential = credentialOf(request)
    if (!credential) return
    watched.add(request)
    const guard = guardOf(request)
    const cutOff = () => cutOffEvents(reply)
    const unwatch = liveAccess.watch({
      ...credential,
      principal,
      onChange: () => void guard?.(request).catch(cutOff),
      onEnd: () => guard && cutOff(),
    })
    onResponseEnd(reply.raw, unwatch)
  }

  function credentialOf(request: FastifyRequest) {
    const { identify } = request
    // Sessions of browsers need not be told apart: few of their requests last.
    if (identify) {
      count += 1
      return { token: `request ${count}`, authenticate: () => identify(request) }
    }
    const token = bearerOf(request.headers.authorization ?? '')
    return token === undefined ? undefined : { token }
  }

  const timer = setInterval(() => {
    const before = performance.now() - sweepMs
    for (const all of [requests(), streams]) {
      for (const [request, reply] of all) if (request.startedAt < before) watch(request, reply)
    }
  }, sweepMs).unref()

  return {
    addStream(request, reply) {
      if (!request.principal) return
      streams.set(request, reply)
      onResponseEnd(reply.raw, () => streams.delete(request))
    },
    close: () => clearInterval(timer),
  }
}

/**
 * A stream of events would go on for a user who may no longer open it; the client reconnects, and gets the status. Other
 * responses come to an end by themselves, such as a download whose token expires meanwhile.
 */
function cutOffEvents(reply: FastifyReply): void {
  // Unknown if a handler that hijacked the reply has passed it to `writeHead`.
  const type = reply.raw.getHeader('content-type') ?? reply.getHeader('content-type') ?? eventStreamType
  if (reply.raw.headersSent && String(type).includes(eventStreamType)) reply.raw.destroy()
}
