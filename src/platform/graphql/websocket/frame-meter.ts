/**
 * Follows the framing of RFC 6455, section 5.2, without keeping any of it: whether a message is unfinished, how long it
 * says it will be, and how much memory the library holds for it. The library itself tells of whole messages alone.
 */

/** Of what a chunk costs beside its bytes: a client that sends single bytes fills the memory with objects. */
const chunkOverhead = 256

const maxHeadLength = 10
const maskLength = 4

export class FrameMeter {
  /** Of the chunks that hold the unfinished message. Parts of a chunk keep all of it in memory. */
  heldBytes = 0
  /** When the unfinished message began. */
  since = 0
  readonly #head = new Uint8Array(maxHeadLength)
  #headLength = 0
  /** Of the current frame, its mask included. */
  #bytesLeft = 0
  /** Of all frames of the message so far, as their heads announce it. */
  #messageLength = 0
  #isFragmented = false

  get isUnfinished(): boolean {
    return this.#isFragmented || this.#headLength > 0
  }

  /** Returns false where a message is longer than `maxLength`, which its head tells before the rest arrives. */
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
    if (this.isUnfinished) {
      if (this.heldBytes === 0) this.since = performance.now()
      this.heldBytes += chunk.length + chunkOverhead
    }
    return isShort
  }

  /** Returns false while bytes of the head are missing. */
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
    // Frames of control may come between those of a message: RFC 6455, section 5.4.
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
