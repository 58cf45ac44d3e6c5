/** All open event streams: the limit per address, and shared timers. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { unpooledBytes } from '../../../core/unpooled-bytes.ts'
import { addressOf } from '../../http/client.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { onResponseEnd } from '../../http/response-end.ts'
import type { AddressBudgets, Share } from '../../limiter/address-budgets.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import { tooManyAttempts } from '../../limiter/limiter.ts'
import { memoizeList } from '../execution/memoize-list.ts'
import { addressHasTooManySubscriptions } from '../execution/refused-request.ts'
import { EventStream, eventOf } from './event-stream.ts'

export interface EventStreamsOptions {
  perAddress: ConnectionsPerAddress
  /** Shared with the sockets. */
  budgets: AddressBudgets
}

export interface StreamOptions {
  isSubscription: boolean
  /** Called once, when nothing can be sent any more. */
  onEnd(): void
}

export type EventStreams = ReturnType<typeof createEventStreams>

/** Proxies close idle connections, commonly after 60 seconds, some after 15. */
const keepAliveMs = 12_000

/** Interval of updating the budgets with what clients have read. */
const accountingMs = 1000

const retrySeconds = 5

export function createEventStreams({ perAddress, budgets }: EventStreamsOptions) {
  const open = new Set<EventStream>()
  const framesOf = memoizeList((texts) => unpooledBytes(texts.map(eventOf).join('')))
  let keepAlive: NodeJS.Timeout | undefined
  let accounting: NodeJS.Timeout | undefined
  let isClosed = false

  function openStream(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): EventStream {
    // A response that is already closed never emits its end.
    if (isClosed || reply.raw.destroyed) throw httpErrors.unavailable()
    const leave = perAddress.enter(addressOf(request))
    if (!leave) throw tooManyAttempts(retrySeconds)
    const share: Share = budgets.open(addressOf(request), () => stream.cutOff('its address holds too many bytes'))
    if (options.isSubscription && !share.addSubscription()) {
      share.close()
      leave()
      throw addressHasTooManySubscriptions()
    }
    const stream = new EventStream({ request, reply, share, framesOf, onEnd: options.onEnd })
    add(stream)
    // Also if another response was sent instead, or the client has disconnected.
    onResponseEnd(reply.raw, () => {
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

    async close(): Promise<void> {
      isClosed = true
      await Promise.all([...open].map((stream) => stream.disconnect()))
    },
  }
}
