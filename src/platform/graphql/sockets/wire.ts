/** One socket, as far as writing to it goes. */
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { CloseReason } from './close-reasons.ts'
import { closeReasons } from './close-reasons.ts'
import { beginFrame, frameOf } from './frames.ts'

/** Whoever leaves more than this unread is cut off, before the values that wait for it fill the memory. */
const maxWaitingBytes = 1024 * 1024

const ping = Buffer.from([0x89, 0])

export class Wire {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #onTooSlow: () => void

  /** `onTooSlow` is called when it has been cut off. */
  constructor({ ws, socket, onTooSlow }: { ws: WebSocket; socket: Duplex; onTooSlow: () => void }) {
    this.#ws = ws
    this.#socket = socket
    this.#onTooSlow = onTooSlow
  }

  send(message: object): void {
    if (this.#canSend()) this.#socket.write(frameOf(JSON.stringify(message)))
  }

  sendFrame(frame: Buffer): void {
    if (this.#canSend()) this.#socket.write(frame)
  }

  /** A frame of which only the beginning is this socket's own. */
  sendShared(own: string, rest: Buffer): void {
    if (!this.#canSend()) return
    this.#socket.cork()
    this.#socket.write(beginFrame(own, rest.length))
    this.#socket.write(rest)
    this.#socket.uncork()
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

  resume(): void {
    if (this.#ws.isPaused) this.#ws.resume()
  }

  get isPaused(): boolean {
    return this.#ws.isPaused
  }

  #canSend(): boolean {
    if (this.#ws.readyState !== WebSocket.OPEN) return false
    if (this.#socket.writableLength <= maxWaitingBytes) return true
    this.close(closeReasons.tooSlow)
    this.#onTooSlow()
    return false
  }
}
