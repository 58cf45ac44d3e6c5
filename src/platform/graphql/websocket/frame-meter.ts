/**
 * Tracks the framing of RFC 6455, section 5.2, without buffering: whether a message is incomplete, its announced
 * length, and the memory that `ws` holds for it. `ws` itself only reports complete messages.
 */

/**
 * Memory of a chunk beyond its bytes: a client that sends single bytes would otherwise fill the memory with objects.
 */
const chunkOverhead = 256

const maxHeadLength = 10
const maskLength = 4

export class FrameMeter {
  /** Memory of the chunks of the incomplete message. A part of a chunk keeps all of it alive. */
  heldBytes = 0
  /** When the incomplete message began. */
  since = 0
  readonly #head = new Uint8Array(maxHeadLength)
  #headLength = 0
  /** Remaining bytes of the current frame, including the mask. */
  #bytesLeft = 0
  /** Announced length of all frames of the message so far. */
  #messageLength = 0
  #isFragmented = false

  get isIncomplete(): boolean {
    return this.#isFragmented || this.#headLength > 0
  }

  /** Returns false if a message is longer than `maxLength`, as soon as a frame header announces it. */
  read(chunk: Uint8Array, maxLength: number): boolean {
    let isShort = true
    for (let i = 0; i < chunk.length; ) {
      if (this.#bytesLeft > 0) {
        const taken = Math.min(this.#bytesLeft, chunk.length - i)
        this.#bytesLeft -= taken
        i += taken
      } else {
        this.#head[this.#headLength++] = chunk[i++] as number
        if (!this.#readHead()) continue
        if (this.#messageLength > maxLength) isShort = false
      }
      if (this.#bytesLeft === 0) this.#endFrame()
    }
    if (this.isIncomplete) {
      if (this.heldBytes === 0) this.since = performance.now()
      this.heldBytes += chunk.length + chunkOverhead
    }
    return isShort
  }

  /** Returns false while the frame header is incomplete. */
  #readHead(): boolean {
    const [first = 0, second = 0] = this.#head
    if (this.#headLength < 2) return false
    const short = second & 0x7f
    const extended = short === 126 ? 2 : short === 127 ? 8 : 0
    if (this.#headLength < 2 + extended) return false
    let length = extended === 0 ? short : 0
    for (let i = 0; i < extended; i++) length = length * 256 + (this.#head[2 + i] as number)
    if (!isControl(first)) this.#messageLength += length
    this.#bytesLeft = length + ((second & 0x80) === 0 ? 0 : maskLength)
    return true
  }

  #endFrame(): void {
    const [first = 0] = this.#head
    this.#headLength = 0
    // Control frames may be interleaved with the fragments of a message: RFC 6455, section 5.4.
    if (!isControl(first)) {
      this.#isFragmented = (first & 0x80) === 0
      if (!this.#isFragmented) this.#messageLength = 0
    }
    if (!this.#isFragmented) this.heldBytes = 0
  }
}

function isControl(firstByte: number): boolean {
  return (firstByte & 0x08) !== 0
}
