/** Caches by list: the responses of a subscription are encoded once for all its subscribers, who get the same list. */
export function memoizeList<Encoded>(
  encode: (texts: readonly string[]) => Encoded,
): (texts: readonly string[]) => Encoded {
  const known = new WeakMap<readonly string[], { encoded: Encoded }>()
  return (texts) => {
    let found = known.get(texts)
    if (!found) {
      found = { encoded: encode(texts) }
      known.set(texts, found)
    }
    return found.encoded
  }
}
