/** The event streams that are open: how many an address may have, and the timers that all of them share. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onAnswerEnd } from '../../http/answer-end.ts'
import { addressOf } from '../../http/client.ts'
import { httpErrors } from '../../http/http-errors.ts'
import type { AddressBudgets, Share } from '../../limiter/address-budgets.ts'
import { createConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import { tooManyAttempts } from '../../limiter/limiter.ts'
import { createLastMade } from '../execution/last-made.ts'
import { addressHasTooManySubscriptions } from '../execution/refused-request.ts'
import { EventStream, eventOf } from './event-stream.ts'

export interface EventStreamsOptions {
  maxPerAddress: number
  /** Which sockets take from too. */
  budgets: AddressBudgets
}

export interface StreamOptions {
  isSubscription: boolean
  /** Is called once, when nothing can be sent any more. */
  onEnd(): void
}

export type EventStreams = ReturnType<typeof createEventStreams>

/** Proxies cut off what is silent for long, commonly after 60 seconds, some after 15. */
const keepAliveMs = 12_000

/** Between two looks at what readers have taken since. */
const accountingMs = 1000

const retrySeconds = 5

export function createEventStreams({ maxPerAddress, budgets }: EventStreamsOptions) {
  const open = new Set<EventStream>()
  const perAddress = createConnectionsPerAddress(maxPerAddress)
  const frameOf = createLastMade((text) => Buffer.from(eventOf(text)))
  let keepAlive: NodeJS.Timeout | undefined
  let accounting: NodeJS.Timeout | undefined
  let isClosed = false

  function openStream(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): EventStream {
    // Of an answer that is closed already no end would be told.
    if (isClosed || reply.raw.destroyed) throw httpErrors.unavailable()
    const leave = perAddress.enter(addressOf(request))
    if (!leave) throw tooManyAttempts(retrySeconds)
    const share: Share = budgets.open(addressOf(request), () => stream.cutOff('its address holds too many bytes'))
    if (options.isSubscription && !share.addSubscription()) {
      share.close()
      leave()
      throw addressHasTooManySubscriptions()
    }
    const stream = new EventStream({ request, reply, share, frameOf, onEnd: options.onEnd })
    add(stream)
    // Also when the answer was another one, or the client has hung up.
    onAnswerEnd(reply.raw, () => {
      leave()
      share.close()
      remove(stream)
      stream.end()
    })
    return stream
  }

  function add(stream: EventStream): void {
    open.add(stream)
    keepAlive ??= setInterval(() => {
      for (const each of open) each.keepAlive()
    }, keepAliveMs).unref()
    accounting ??= setInterval(() => {
      for (const each of open) each.account()
    }, accountingMs).unref()
  }

  function remove(stream: EventStream): void {
    open.delete(stream)
    if (open.size > 0) return
    clearInterval(keepAlive)
    clearInterval(accounting)
    keepAlive = undefined
    accounting = undefined
  }

  return {
    open: openStream,

    /** Cuts all of them off in the middle. */
    async close(): Promise<void> {
      isClosed = true
      await Promise.all([...open].map((stream) => stream.leave()))
    },
  }
}
