/** Executes operations whose responses are event streams. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LiveAccess } from '../../access/live-access.ts'
import { requireBearer } from '../../access/route-guards.ts'
import { httpErrors } from '../../http/http-errors.ts'
import type { Engine, LiveSubscription, Prepared } from '../execution/engine.types.ts'
import { formatAppError } from '../execution/graphql-errors.ts'
import type { EventStreams } from './event-streams.ts'
import { RequestContext } from './request-context.ts'

export interface StreamingDeps {
  engine: Engine
  streams: EventStreams
  liveAccess: Pick<LiveAccess, 'watch'>
}

export function createStreaming({ engine, streams, liveAccess }: StreamingDeps) {
  return async (request: FastifyRequest, reply: FastifyReply, prepared: Prepared): Promise<void> => {
    if (prepared.kind === 'subscription') await streamSubscription(request, reply, prepared)
    else await streamResponse(request, reply, prepared)
  }

  async function streamResponse(request: FastifyRequest, reply: FastifyReply, prepared: Prepared): Promise<void> {
    const stream = streams.open(request, reply, { isSubscription: false, onEnd() {} })
    const { text } = await engine.execute(prepared, new RequestContext(request))
    stream.next([text])
    stream.complete()
  }

  async function streamSubscription(request: FastifyRequest, reply: FastifyReply, prepared: Prepared): Promise<void> {
    // Frees the memory while the stream is open.
    request.body = undefined
    let live: LiveSubscription | undefined
    let unwatch: (() => void) | undefined
    const stream = streams.open(request, reply, {
      isSubscription: true,
      onEnd() {
        unwatch?.()
        live?.close()
      },
    })
    live = await engine.subscribe(prepared, new RequestContext(request), {
      next: (texts) => stream.next(texts),
      ready: () => stream.ready(),
      end(errors) {
        if (errors) stream.next([JSON.stringify({ errors })])
        stream.complete()
      },
    })
    const { principal } = request
    if (principal && !stream.isOver) {
      unwatch = liveAccess.watch({
        token: requireBearer(request),
        principal,
        onChange: () => void live.recheck(),
        onEnd() {
          const errors = [formatAppError(httpErrors.invalidToken())]
          engine.countErrors(errors)
          stream.next([JSON.stringify({ errors })])
          stream.complete()
        },
      })
    }
    // The client may have disconnected while the subscription was being opened.
    if (stream.isOver) {
      unwatch?.()
      live.close()
    } else stream.start()
  }
}
