/**
 * Bytes that are kept. `Buffer.from` and `Buffer.concat` return small ones as slices of a pool, and each slice that is kept
 * keeps its whole slab of 64 kB in memory.
 */

export function unpooledBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** For parts that are kept together: they share one allocation. */
export function unpooledParts(texts: readonly string[]): Buffer[] {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const all = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  return texts.map((text, index) => {
    const start = end
    end += lengths[index] as number
    all.write(text, start)
    return all.subarray(start, end)
  })
}

export function concatUnpooled(parts: readonly Uint8Array[]): Buffer {
  const all = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
