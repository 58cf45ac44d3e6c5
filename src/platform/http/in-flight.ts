/** The requests that have no response yet. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeActivity } from '../threads/activity.ts'

export interface InFlight {
  begin(request: FastifyRequest, reply: FastifyReply): void
  /** Repeated calls for a request count once. */
  end(request: FastifyRequest): void
  has(request: FastifyRequest): boolean
  count(): number
  all(): Iterable<[FastifyRequest, FastifyReply]>
}

const maxDescribed = 20

export function createInFlight(): InFlight {
  const requests = new Map<FastifyRequest, FastifyReply>()
  describeActivity(() => {
    const now = performance.now()
    return Array.from(requests.keys())
      .slice(0, maxDescribed)
      .map(({ id, method, routeOptions, startedAt }) => {
        const route = routeOptions.config.pattern ?? 'unknown'
        return `${method} ${route}, ${Math.round(now - startedAt)} ms, request id ${id}`
      })
  })
  return {
    begin: (request, reply) => void requests.set(request, reply),
    end: (request) => void requests.delete(request),
    has: (request) => requests.has(request),
    count: () => requests.size,
    all: () => requests,
  }
}
