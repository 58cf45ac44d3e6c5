/** One socket, as far as writing to it goes. */
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { CloseReason } from './close-reasons.ts'
import { closeReasons } from './close-reasons.ts'
import { beginFrame, frameOf } from './frames.ts'

export interface SocketWriterOptions {
  ws: WebSocket
  socket: Duplex
  /** What it holds in memory has changed. */
  onHeld(): void
  /** Is called when it has been cut off. */
  onTooSlow(): void
}

/** Whoever leaves more than this unread is cut off, before the values that wait for it fill the memory. */
const maxWaitingBytes = 1024 * 1024

const ping = Buffer.from([0x89, 0])

export class SocketWriter {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #options: SocketWriterOptions
  #wasBehind = false

  constructor(options: SocketWriterOptions) {
    this.#ws = options.ws
    this.#socket = options.socket
    this.#options = options
  }

  /** Sent, and not yet taken by the client. */
  get heldBytes(): number {
    return this.#socket.writableLength
  }

  send(message: object): void {
    if (this.#canSend()) this.#write(frameOf(JSON.stringify(message)))
  }

  sendFrame(frame: Buffer): void {
    if (this.#canSend()) this.#write(frame)
  }

  /** A frame of which only the beginning is this socket's own. `more` are frames that belong to it, however long it is. */
  sendShared(own: string, rest: Buffer, ...more: Buffer[]): void {
    if (!this.#canSend()) return
    this.#socket.cork()
    this.#socket.write(beginFrame(own, rest.length))
    this.#socket.write(rest)
    for (const frame of more) this.#socket.write(frame)
    this.#socket.uncork()
    this.#look()
  }

  ping(): void {
    this.sendFrame(ping)
  }

  /** An answer carries what the question did: RFC 6455, section 5.5.3. It is at most 125 bytes. */
  pong(data: Buffer): void {
    this.sendFrame(Buffer.concat([Buffer.from([0x8a, data.length]), data]))
  }

  /** Where the other side does not close too, or cannot be told, the library ends the connection after a while. */
  close({ code, text }: CloseReason): void {
    this.#ws.close(code, text)
  }

  terminate(): void {
    this.#ws.terminate()
  }

  pause(): void {
    this.#ws.pause()
  }

  get isPaused(): boolean {
    return this.#ws.isPaused
  }

  #write(frame: Buffer): void {
    this.#socket.write(frame)
    this.#look()
  }

  /** Clients that read take everything at once. */
  #look(): void {
    const isBehind = this.#socket.writableLength > 0
    if (isBehind || this.#wasBehind) this.#options.onHeld()
    this.#wasBehind = isBehind
  }

  #canSend(): boolean {
    if (this.#ws.readyState !== WebSocket.OPEN) return false
    if (this.#socket.writableLength <= maxWaitingBytes) return true
    this.close(closeReasons.tooSlow)
    this.#options.onTooSlow()
    return false
  }
}
