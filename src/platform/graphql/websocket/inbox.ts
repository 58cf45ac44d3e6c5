/** The messages of one client, from their first byte until they are handled. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { FairTurns } from '../execution/fair-turns.ts'
import { FrameMeter } from './frame-meter.ts'

/** Of a message of a client that has shown a valid token, and of any message as far as the library is concerned. */
export const maxMessageBytes = 1024 * 1024

export interface InboxOptions {
  ws: WebSocket
  socket: Duplex
  turns: FairTurns
  /** Whose turn it takes to handle a message. */
  line: string
  /** Of a message, in bytes. */
  maxLength: number
  onMessage(data: Buffer, isBinary: boolean): void
  /** Nothing is read or handled while it returns true; `goOn` must be called when it no longer does. */
  isBlocked(): boolean
  /** No message is handled while it returns false; `goOn` must be called when it no longer does. */
  hasRoom(): boolean
  /** What it holds in memory has changed. */
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
    // Before the library sees it.
    socket.prependListener('data', (chunk: Buffer) => this.#measure(chunk))
    ws.on('message', (data: Buffer, isBinary: boolean) => this.#receive({ data, isBinary }))
  }

  get heldBytes(): number {
    return this.#meter.heldBytes + this.#waitingBytes
  }

  /** For how long a message has been unfinished; undefined where none is. */
  unfinishedMs(now: number): number | undefined {
    // While it is not read from, the client cannot finish.
    if (this.#options.ws.isPaused) this.#meter.since = now
    return this.#meter.isUnfinished ? now - this.#meter.since : undefined
  }

  /** Handles what waits, else reads on, as far as it may. Returns whether a message is going to be handled. */
  goOn(): boolean {
    if (this.#isClosed || this.#options.isBlocked()) return false
    if (this.#waiting.length === 0) this.#resume()
    else if (!this.#isScheduled && this.#options.hasRoom()) this.#schedule()
    return this.#isScheduled
  }

  /** Drops what waits. */
  clear(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** Drops what waits and what still arrives, but for the library's closing handshake. */
  close(): void {
    this.#isClosed = true
    this.clear()
    // Paused, it would not notice that the other side closes too.
    this.#resume()
  }

  /** Reads no more. The library ends the connection soon after it has been closed. */
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
    this.goOn()
    // Pausing stops the next chunk from being read; the messages of the present one still arrive.
    if (this.#waiting.length > 0) this.#options.ws.pause()
  }

  #schedule(): void {
    const { turns, line } = this.#options
    this.#isScheduled = true
    // A full line is one of thousands of connections: it is asked again in the next turn of the event loop.
    if (!turns.run(line, this.#handleNext)) setImmediate(this.#handleNext)
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
    this.goOn()
  }

  #resume(): void {
    const { ws } = this.#options
    if (ws.isPaused) ws.resume()
  }
}
