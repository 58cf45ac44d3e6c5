/** Counts requests that have no response yet. A flag and a number, because a listener per response would cost more. */
import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    isInFlight: boolean
  }
}

export interface InFlight {
  begin(request: FastifyRequest): void
  /** Repeated calls for a request count once. */
  end(request: FastifyRequest): void
  count(): number
}

export function createInFlight(): InFlight {
  let count = 0
  return {
    begin(request) {
      request.isInFlight = true
      count += 1
    },
    end(request) {
      if (!request.isInFlight) return
      request.isInFlight = false
      count -= 1
    },
    count: () => count,
  }
}
