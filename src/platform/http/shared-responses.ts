/**
 * Responses that are the same for all readers until something changes. Each is kept with the state that it was made in, such
 * as the position of the change log, and sent again only in the same state: so the state has to be read first, for each
 * request. What is asked for only once is not kept.
 */

export interface SharedResponses {
  /** Whether this was asked for before. Only then is it worth while to read the state. */
  isKnown(key: string): boolean
  /** Makes the response unless it is there, or is being made, in this state. */
  find<T extends Kept>(key: string, state: string, make: () => Promise<T>): Promise<T>
  bytes(): number
}

export interface Kept {
  /** Undefined if it is not to be kept. */
  bytes: number | undefined
}

interface Entry {
  bytes: number
  state?: string
  response?: Promise<Kept>
}

/** Of the request, of which twice its length is counted. */
const maxKeyLength = 2000
/** Of the objects that hold an entry. */
const bytesPerEntry = 400

export function createSharedResponses({ maxBytes }: { maxBytes: number }): SharedResponses {
  // In insertion order: least recently used first.
  const entries = new Map<string, Entry>()
  let bytes = 0

  function put(key: string, entry: Entry): void {
    drop(key)
    entries.set(key, entry)
    bytes += entry.bytes
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break
      drop(oldest)
    }
  }

  function drop(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  const emptyBytes = (key: string) => 2 * key.length + bytesPerEntry

  return {
    isKnown(key) {
      if (entries.has(key)) return true
      if (key.length <= maxKeyLength) put(key, { bytes: emptyBytes(key) })
      return false
    },

    async find<T extends Kept>(key: string, state: string, make: () => Promise<T>): Promise<T> {
      const known = entries.get(key)
      if (known?.response && known.state === state) {
        put(key, known)
        // Whoever began to make it may have failed for reasons of their own, such as a disconnected client.
        return (known.response as Promise<T>).catch(make)
      }
      const response = make()
      const entry = { bytes: emptyBytes(key), state, response }
      put(key, entry)
      try {
        const made = await response
        if (entries.get(key) !== entry) return made
        if (made.bytes === undefined) put(key, { bytes: emptyBytes(key) })
        else put(key, { ...entry, bytes: emptyBytes(key) + made.bytes })
        return made
      } catch (error) {
        if (entries.get(key) === entry) put(key, { bytes: emptyBytes(key) })
        throw error
      }
    },

    bytes: () => bytes,
  }
}
