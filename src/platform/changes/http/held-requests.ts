/** Requests that wait for something to happen, and how all of them are ended when the service stops. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from '../../http/client.ts'
import { onResponseEnd } from '../../http/response-end.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import { tooManyAttempts } from '../../limiter/limiter.ts'

export interface HeldRequests {
  /** Throws 429 if the address holds too many. Released with the response, if not before. */
  hold(request: FastifyRequest, reply: FastifyReply): Held
}

export interface Held {
  /** Aborted when the client has disconnected, or the service is about to stop. */
  readonly signal: AbortSignal
  /** Aborts the signal after so long. */
  endAfter(ms: number): void
  release(): void
}

const retrySeconds = 5

export function createHeldRequests(app: FastifyInstance, perAddress: ConnectionsPerAddress): HeldRequests {
  const held = new Set<AbortController>()
  let isEnded = false

  function endAll(): void {
    isEnded = true
    for (const controller of held) controller.abort()
  }

  // While everything else is still served: a client that is told at once asks another node.
  app.onDrain(endAll)
  app.addHook('preClose', async () => endAll())

  return {
    hold(request, reply) {
      const leave = perAddress.enter(addressOf(request))
      if (!leave) throw tooManyAttempts(retrySeconds)
      const controller = new AbortController()
      let timer: NodeJS.Timeout | undefined
      held.add(controller)
      if (isEnded) controller.abort()
      const release = () => {
        clearTimeout(timer)
        held.delete(controller)
        controller.abort()
        leave()
      }
      onResponseEnd(reply.raw, release)
      return {
        signal: controller.signal,
        endAfter(ms) {
          timer = setTimeout(() => controller.abort(), ms).unref()
        },
        release,
      }
    },
  }
}
