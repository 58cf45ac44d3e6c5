/** Caches the last result: a value of a subscription is encoded once for all its subscribers. */
export function memoizeLast(encode: (text: string) => Buffer): (text: string) => Buffer {
  let last: string | undefined
  let encoded: Buffer = Buffer.alloc(0)
  return (text) => {
    if (text !== last) {
      encoded = encode(text)
      last = text
    }
    return encoded
  }
}
