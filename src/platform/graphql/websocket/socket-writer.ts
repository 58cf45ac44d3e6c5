/** Writes to one socket, with a limit on unread bytes. */
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { untilDrained } from '../../http/until-drained.ts'
import type { CloseReason } from './close-reasons.ts'
import { closeReasons } from './close-reasons.ts'
import { beginFrame, frameOf, joinFrames } from './frames.ts'

export interface SocketWriterOptions {
  ws: WebSocket
  socket: Duplex
  /** `heldBytes` has changed. */
  onHeld(): void
  /** Called when the socket is closed for being too slow. */
  onTooSlow(): void
}

/** Buffer limit; the socket is closed beyond it. */
const maxBufferedBytes = 1024 * 1024

/** Shorter frames are copied: one write of a buffer costs less than one of several. */
const maxCopiedBytes = 16 * 1024

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

  /** Bytes that the client has not read yet. */
  get heldBytes(): number {
    return this.#socket.writableLength
  }

  /** Resolves when the client has read what was sent, or is gone. Undefined if it has. */
  ready(): Promise<void> | undefined {
    return untilDrained(this.#socket)
  }

  send(message: object): void {
    if (this.#canSend()) this.#write(frameOf(JSON.stringify(message)))
  }

  sendFrame(frame: Buffer): void {
    if (this.#canSend()) this.#write(frame)
  }

  /**
   * Sends frames of which only the beginning is specific to this socket. `more` frames are sent with them in any case.
   */
  sendShared(own: string, rests: readonly Buffer[], ...more: Buffer[]): void {
    if (!this.#canSend()) return
    if (more.length === 0 && lengthOf(rests) <= maxCopiedBytes) {
      this.#write(joinFrames(own, rests))
      return
    }
    this.#socket.cork()
    for (const rest of rests) {
      this.#socket.write(beginFrame(own, rest.length))
      this.#socket.write(rest)
    }
    for (const frame of more) this.#socket.write(frame)
    this.#socket.uncork()
    this.#reportHeld()
  }

  ping(): void {
    this.sendFrame(ping)
  }

  /** Echoes the ping's data, at most 125 bytes: RFC 6455, section 5.5.3. */
  pong(data: Buffer): void {
    this.sendFrame(Buffer.concat([Buffer.from([0x8a, data.length]), data]))
  }

  /** `ws` terminates the connection after its close timeout if the client does not respond. */
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
    this.#reportHeld()
  }

  /** Skipped for clients that keep up, whose buffer stays empty. */
  #reportHeld(): void {
    const isBehind = this.#socket.writableLength > 0
    if (isBehind || this.#wasBehind) this.#options.onHeld()
    this.#wasBehind = isBehind
  }

  #canSend(): boolean {
    if (this.#ws.readyState !== WebSocket.OPEN) return false
    if (this.#socket.writableLength <= maxBufferedBytes) return true
    this.close(closeReasons.tooSlow)
    this.#options.onTooSlow()
    return false
  }
}

function lengthOf(buffers: readonly Buffer[]): number {
  let length = 0
  for (const each of buffers) length += each.length
  return length
}
