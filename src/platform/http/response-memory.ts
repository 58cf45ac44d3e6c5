/** How much memory long answers hold while their clients read them. Nobody is refused for it: beyond it they are read again. */
import type { ServerResponse } from 'node:http'

/** A value that can be made again. It is held until it is released, or until more recently used ones need its room. */
export interface Held<T> {
  /** Undefined once it has been given up. */
  get(): T | undefined
  release(): void
}

export interface ResponseMemory {
  /** Counts the bytes of a whole answer until its connection has got it or is gone. False where there is no room. */
  tryReserve(response: ServerResponse, bytes: number): boolean
  hold<T>(value: T, bytes: number): Held<T>
  /** What is reserved and held now. */
  bytes(): number
}

interface Entry {
  value: unknown
  bytes: number
}

/** `maxBytes` for what is reserved, and as many again for what is held. */
export function createResponseMemory(maxBytes: number): ResponseMemory {
  let reserved = 0
  let held = 0
  // The least recently used first.
  const entries = new Set<Entry>()

  function drop(entry: Entry): void {
    if (entries.delete(entry)) held -= entry.bytes
    entry.value = undefined
  }

  return {
    tryReserve(response, bytes) {
      // A connection that is closed already would never give them back.
      if (response.closed || response.destroyed || reserved + bytes > maxBytes) return false
      reserved += bytes
      response.once('close', () => {
        reserved -= bytes
      })
      return true
    },

    hold<T>(value: T, bytes: number): Held<T> {
      const entry: Entry = { value, bytes }
      entries.add(entry)
      held += bytes
      for (const oldest of entries) {
        if (held <= maxBytes) break
        drop(oldest)
      }
      return {
        get() {
          if (entries.delete(entry)) entries.add(entry)
          return entry.value as T | undefined
        },
        release: () => drop(entry),
      }
    },

    bytes: () => reserved + held,
  }
}
