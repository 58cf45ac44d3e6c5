/**
 * Answers that go on: server-sent events, as the "distinct connections mode" of the graphql-sse protocol has them. The
 * framework is bypassed, because it knows only answers that it can wait for.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { onAnswerEnd } from '../../http/answer-end.ts'
import { addressOf } from '../../http/client.ts'
import { httpErrors } from '../../http/http-errors.ts'
import type { AddressBudgets } from '../../limiter/address-budgets.ts'
import { createConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import { tooManyAttempts } from '../../limiter/limiter.ts'
import { createLastMade } from '../execution/last-made.ts'
import { addressHasTooManySubscriptions } from '../execution/refused-request.ts'
import { eventStreamType } from './media-types.ts'

export interface EventStream {
  /** Sends the head of the answer. Until then, or until the first event, the request can still be refused. */
  begin(): void
  next(text: string): void
  complete(): void
  isOver(): boolean
}

export interface EventStreamsOptions {
  app: FastifyInstance
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

/** What may wait for a reader. One that is further behind reads too slowly to ever catch up. */
const maxWaitingBytes = 1024 * 1024

/** For readers to get the last words when the service stops. */
const farewellMs = 1000

const retrySeconds = 5

const comment = ':\n\n'
/** JSON has no line breaks, which would end the line of data. */
const eventOf = (text: string) => `event: next\ndata: ${text}\n\n`
const completed = 'event: complete\ndata: \n\n'

interface Opened {
  raw: ServerResponse
  end(): void
  write(frame: string | Buffer): void
  /** Tells its address's budget what it holds. */
  account(): void
}

export function createEventStreams({ app, maxPerAddress, budgets }: EventStreamsOptions) {
  const open = new Set<Opened>()
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
    const { raw } = reply
    const share = budgets.open(addressOf(request), () => cutOff('its address holds too many bytes'))
    if (options.isSubscription && !share.addSubscription()) {
      share.close()
      leave()
      throw addressHasTooManySubscriptions()
    }
    let isBegun = false
    let isOver = false

    function begin(): void {
      if (isBegun || isOver) return
      isBegun = true
      reply.hijack()
      app.recordRequest(request, 200)
      raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...streamHeaders })
      raw.write(comment)
    }

    function write(frame: string | Buffer): void {
      if (isOver) return
      if (raw.writableLength > maxWaitingBytes) cutOff('its reader is too slow')
      else if (isBegun) {
        raw.write(frame)
        account()
      }
    }

    function account(): void {
      share.hold(raw.writableLength)
    }

    /** The connection itself: an answer that waits for the one before it on the same connection has none yet. */
    function cutOff(reason: string): void {
      request.log.info(`an event stream was cut off: ${reason}`)
      request.raw.socket.destroy()
      end()
    }

    function complete(): void {
      if (isOver) return
      begin()
      // With what was sent before it, however long that is.
      raw.end(completed)
      end()
    }

    function end(): void {
      if (isOver) return
      isOver = true
      options.onEnd()
    }

    const own: Opened = { raw, end, write, account }
    add(own)
    // Also when the answer was another one, or the client has hung up.
    onAnswerEnd(raw, () => {
      leave?.()
      share.close()
      remove(own)
      end()
    })
    return {
      begin,
      next(text) {
        begin()
        write(frameOf(text))
      },
      complete,
      isOver: () => isOver,
    }
  }

  function add(stream: Opened): void {
    open.add(stream)
    keepAlive ??= setInterval(() => {
      for (const each of open) each.write(comment)
    }, keepAliveMs).unref()
    accounting ??= setInterval(() => {
      for (const each of open) each.account()
    }, accountingMs).unref()
  }

  function remove(stream: Opened): void {
    open.delete(stream)
    if (open.size > 0) return
    clearInterval(keepAlive)
    clearInterval(accounting)
    keepAlive = undefined
    accounting = undefined
  }

  return {
    open: openStream,

    /** Cuts all of them off in the middle, so that clients come again: an end would tell them that there is no more. */
    async close(): Promise<void> {
      isClosed = true
      const ended = [...open].map(({ raw, end }) => {
        raw.end()
        end()
        return new Promise<void>((resolve) => {
          const cutOff = setTimeout(() => raw.destroy(), farewellMs)
          raw.once('close', () => {
            clearTimeout(cutOff)
            resolve()
          })
        })
      })
      await Promise.all(ended)
    },
  }
}

const streamHeaders = {
  'content-type': `${eventStreamType}; charset=utf-8`,
  'cache-control': 'no-store',
  // nginx would collect the events until there are enough of them.
  'x-accel-buffering': 'no',
}

/** A stream of one answer. */
export function sendEvents(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .code(200)
    .headers(streamHeaders)
    .send(eventOf(text) + completed)
}
