/**
 * A response of server-sent events, in the "distinct connections mode" of the graphql-sse protocol. Bypasses Fastify,
 * whose replies cannot be written to over time.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { untilDrained } from '../../http/until-drained.ts'
import type { Share } from '../../limiter/address-budgets.ts'
import { eventStreamType } from './media-types.ts'

export interface EventStreamOptions {
  request: FastifyRequest
  reply: FastifyReply
  /** Its share of the address's budgets. */
  share: Share
  framesOf(texts: readonly string[]): Buffer
  /** Called once, when nothing can be sent any more. */
  onEnd(): void
}

/** Buffer limit; a client further behind is disconnected. */
const maxBufferedBytes = 1024 * 1024

/** Time for clients to read buffered events when the service stops. */
const flushMs = 1000

const comment = ':\n\n'
const completed = 'event: complete\ndata: \n\n'

const streamHeaders = {
  'content-type': `${eventStreamType}; charset=utf-8`,
  'cache-control': 'no-store',
  // Disables the response buffering of nginx.
  'x-accel-buffering': 'no',
}

export class EventStream {
  readonly #options: EventStreamOptions
  #isStarted = false
  #isOver = false

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Sends the response headers. Before that, or the first event, the request can still be refused. */
  start(): void {
    if (this.#isStarted || this.#isOver) return
    this.#isStarted = true
    const { request, reply } = this.#options
    reply.hijack()
    request.server.recordRequest(request, reply, 200)
    reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...streamHeaders })
    reply.raw.write(comment)
  }

  next(texts: readonly string[]): void {
    this.start()
    this.#write(this.#options.framesOf(texts))
  }

  ready(): Promise<void> | undefined {
    return this.#isOver ? undefined : untilDrained(this.#options.reply.raw)
  }

  keepAlive(): void {
    this.#write(comment)
  }

  complete(): void {
    if (this.#isOver) return
    this.start()
    // Regardless of the buffer limit: it belongs to the event before it.
    this.#options.reply.raw.end(completed)
    this.end()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onEnd()
  }

  /** Ends the response without a `complete` event, so that the client reconnects. */
  disconnect(): Promise<void> {
    const { raw } = this.#options.reply
    raw.end()
    this.end()
    return new Promise((resolve) => {
      const cutOff = setTimeout(() => raw.destroy(), flushMs)
      raw.once('close', () => {
        clearTimeout(cutOff)
        resolve()
      })
    })
  }

  /** Destroys the connection itself: a pipelined response that is still queued has no socket of its own. */
  cutOff(reason: string): void {
    const { request } = this.#options
    request.log.info(`an event stream was cut off: ${reason}`)
    request.raw.socket.destroy()
    this.end()
  }

  /** Updates the address's budget with the buffered bytes. */
  account(): void {
    this.#options.share.hold(this.#options.reply.raw.writableLength)
  }

  #write(frame: string | Buffer): void {
    if (this.#isOver) return
    const { raw } = this.#options.reply
    if (raw.writableLength > maxBufferedBytes) this.cutOff('its reader is too slow')
    else if (this.#isStarted) {
      raw.write(frame)
      this.account()
    }
  }
}

/** JSON text has no line breaks, which would end the data line. */
export function eventOf(text: string): string {
  return `event: next\ndata: ${text}\n\n`
}

/** Sends a stream with a single response. */
export function sendEvents(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .code(200)
    .headers(streamHeaders)
    .send(eventOf(text) + completed)
}
