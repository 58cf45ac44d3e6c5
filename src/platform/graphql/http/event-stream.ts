/**
 * An answer that goes on: server-sent events, as the "distinct connections mode" of the graphql-sse protocol has them.
 * The framework is bypassed, because it knows only answers that it can wait for.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Share } from '../../limiter/address-budgets.ts'
import { eventStreamType } from './media-types.ts'

export interface EventStreamOptions {
  request: FastifyRequest
  reply: FastifyReply
  /** What it takes of its address's budgets. */
  share: Share
  frameOf(text: string): Buffer
  /** Is called once, when nothing can be sent any more. */
  onEnd(): void
}

/** What may wait for a reader. One that is further behind reads too slowly to ever catch up. */
const maxWaitingBytes = 1024 * 1024

/** For readers to get the last words when the service stops. */
const farewellMs = 1000

const comment = ':\n\n'
const completed = 'event: complete\ndata: \n\n'

const streamHeaders = {
  'content-type': `${eventStreamType}; charset=utf-8`,
  'cache-control': 'no-store',
  // nginx would collect the events until there are enough of them.
  'x-accel-buffering': 'no',
}

export class EventStream {
  readonly #options: EventStreamOptions
  #isBegun = false
  #isOver = false

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Sends the head of the answer. Until then, or until the first event, the request can still be refused. */
  begin(): void {
    if (this.#isBegun || this.#isOver) return
    this.#isBegun = true
    const { request, reply } = this.#options
    reply.hijack()
    request.server.recordRequest(request, 200)
    reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...streamHeaders })
    reply.raw.write(comment)
  }

  next(text: string): void {
    this.begin()
    this.#write(this.#options.frameOf(text))
  }

  /** A sign of life: proxies cut off what is silent for long. */
  keepAlive(): void {
    this.#write(comment)
  }

  complete(): void {
    if (this.#isOver) return
    this.begin()
    // With what was sent before it, however long that is.
    this.#options.reply.raw.end(completed)
    this.end()
  }

  /** Nothing is sent any more. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onEnd()
  }

  /** Ends it in the middle, so that the client comes again: a completed one would tell it that there is no more. */
  leave(): Promise<void> {
    const { raw } = this.#options.reply
    raw.end()
    this.end()
    return new Promise((resolve) => {
      const cutOff = setTimeout(() => raw.destroy(), farewellMs)
      raw.once('close', () => {
        clearTimeout(cutOff)
        resolve()
      })
    })
  }

  /** The connection itself: an answer that waits for the one before it on the same connection has none yet. */
  cutOff(reason: string): void {
    const { request } = this.#options
    request.log.info(`an event stream was cut off: ${reason}`)
    request.raw.socket.destroy()
    this.end()
  }

  /** Tells its address's budget what it holds. */
  account(): void {
    this.#options.share.hold(this.#options.reply.raw.writableLength)
  }

  #write(frame: string | Buffer): void {
    if (this.#isOver) return
    const { raw } = this.#options.reply
    if (raw.writableLength > maxWaitingBytes) this.cutOff('its reader is too slow')
    else if (this.#isBegun) {
      raw.write(frame)
      this.account()
    }
  }
}

/** JSON has no line breaks, which would end the line of data. */
export function eventOf(text: string): string {
  return `event: next\ndata: ${text}\n\n`
}

/** A stream of one answer. */
export function sendEvents(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .code(200)
    .headers(streamHeaders)
    .send(eventOf(text) + completed)
}
