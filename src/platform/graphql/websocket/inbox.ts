/** Incoming messages of one socket: limits their size, applies backpressure and schedules their handling. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { FairScheduler } from '../execution/fair-scheduler.ts'
import { FrameMeter } from './frame-meter.ts'

/** For authenticated clients, and the limit of `ws` for all. */
export const maxMessageBytes = 1024 * 1024

export interface InboxOptions {
  ws: WebSocket
  socket: Duplex
  scheduler: FairScheduler
  /** The scheduler queue for handling messages. */
  queueKey: string
  /** Limit of a message in bytes. */
  maxLength: number
  onMessage(data: Buffer, isBinary: boolean): void
  /** Nothing is read or handled while it returns true; call `resume` when that changes. */
  isBlocked(): boolean
  /** No message is handled while it returns false; call `resume` when that changes. */
  hasRoom(): boolean
  /** `heldBytes` has changed. */
  onHeld(): void
  onTooLong(): void
}

interface Message {
  data: Buffer
  isBinary: boolean
}

export class Inbox {
  maxLength: number
  readonly #options: InboxOptions
  readonly #meter = new FrameMeter()
  #waiting: Message[] = []
  #waitingBytes = 0
  #isScheduled = false
  #isClosed = false

  constructor(options: InboxOptions) {
    this.#options = options
    this.maxLength = options.maxLength
    const { ws, socket } = options
    // Before `ws` receives the chunk.
    socket.prependListener('data', (chunk: Buffer) => this.#measure(chunk))
    ws.on('message', (data: Buffer, isBinary: boolean) => this.#receive({ data, isBinary }))
  }

  get heldBytes(): number {
    return this.#meter.heldBytes + this.#waitingBytes
  }

  /** Time since an incomplete message began; undefined if there is none. */
  incompleteMs(now: number): number | undefined {
    // The client cannot complete it while the socket is paused.
    if (this.#options.ws.isPaused) this.#meter.since = now
    return this.#meter.isIncomplete ? now - this.#meter.since : undefined
  }

  /** Schedules the next message, or reads on if none waits. Returns whether one is scheduled. */
  resume(): boolean {
    if (this.#isClosed || this.#options.isBlocked()) return false
    if (this.#waiting.length === 0) this.#resumeSocket()
    else if (!this.#isScheduled && this.#options.hasRoom()) this.#schedule()
    return this.#isScheduled
  }

  /** Drops waiting messages. */
  clear(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** Drops waiting and further messages; `ws` still completes the closing handshake. */
  close(): void {
    this.#isClosed = true
    this.clear()
    // Paused, it would not receive the client's close frame.
    this.#resumeSocket()
  }

  /** Stops reading. `ws` ends the connection after its close timeout. */
  discard(): void {
    this.#options.socket.removeAllListeners('data').pause()
  }

  #measure(chunk: Buffer): void {
    if (!this.#meter.read(chunk, this.maxLength) && !this.#isClosed) {
      this.#options.onTooLong()
      this.discard()
    }
    this.#options.onHeld()
  }

  #receive(message: Message): void {
    if (this.#isClosed) return
    this.#waiting.push(message)
    this.#waitingBytes += message.data.length
    this.resume()
    // Pausing takes effect with the next chunk; further messages of this one still arrive.
    if (this.#waiting.length > 0) this.#options.ws.pause()
  }

  #schedule(): void {
    const { scheduler, queueKey } = this.#options
    this.#isScheduled = true
    // Only thousands of connections of one address fill its queue. Retry in the next tick.
    if (!scheduler.run(queueKey, this.#handleNext)) setImmediate(this.#handleNext)
  }

  readonly #handleNext = (): void => {
    this.#isScheduled = false
    const { isBlocked, hasRoom, onMessage } = this.#options
    if (this.#isClosed || isBlocked() || !hasRoom()) return
    const next = this.#waiting.shift()
    if (next) {
      this.#waitingBytes -= next.data.length
      onMessage(next.data, next.isBinary)
    }
    this.resume()
  }

  #resumeSocket(): void {
    const { ws } = this.#options
    if (ws.isPaused) ws.resume()
  }
}
