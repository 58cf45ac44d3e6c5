/**
 * Bounds the memory that long responses hold while they are read. Beyond it values are evicted and made again, not
 * refused.
 */
import type { ServerResponse } from 'node:http'
import { onResponseEnd } from './response-end.ts'

/**
 * A reproducible value, shared by all holders of its key. Dropped when the last holder releases it, or evicted, least
 * recently used first, when memory is needed.
 */
export interface Held<T> {
  /** Undefined once it has been evicted. */
  get(): T | undefined
  release(): void
}

export interface ResponseMemory {
  /**
   * Counts the bytes of a whole response until it is sent or the client disconnects. Returns false beyond the limit.
   */
  tryReserve(response: ServerResponse, bytes: number): boolean
  hold<T>(key: unknown, value: T, bytes: number): Held<T>
  /** Shares a value that another holder has. */
  find<T>(key: unknown): Held<T> | undefined
  /** Reserved plus held. */
  bytes(): number
}

interface Entry {
  value: unknown
  bytes: number
  holders: number
}

export interface ResponseMemoryOptions {
  maxReservedBytes: number
  maxHeldBytes: number
}

export function createResponseMemory({ maxReservedBytes, maxHeldBytes }: ResponseMemoryOptions): ResponseMemory {
  let reserved = 0
  let held = 0
  // In insertion order: least recently used first.
  const entries = new Map<unknown, Entry>()

  function drop(key: unknown, entry: Entry): void {
    if (entries.get(key) === entry) {
      entries.delete(key)
      held -= entry.bytes
    }
    entry.value = undefined
  }

  function share<T>(key: unknown, entry: Entry): Held<T> {
    let isReleased = false
    entry.holders += 1
    return {
      get() {
        if (entries.get(key) === entry) {
          entries.delete(key)
          entries.set(key, entry)
        }
        return entry.value as T | undefined
      },
      release() {
        if (isReleased) return
        isReleased = true
        entry.holders -= 1
        if (entry.holders === 0) drop(key, entry)
      },
    }
  }

  return {
    tryReserve(response, bytes) {
      // A closed response would never release them.
      if (response.closed || response.destroyed || reserved + bytes > maxReservedBytes) return false
      reserved += bytes
      onResponseEnd(response, () => {
        reserved -= bytes
      })
      return true
    },

    hold<T>(key: unknown, value: T, bytes: number): Held<T> {
      const known = entries.get(key)
      if (known) return share(key, known)
      const entry: Entry = { value, bytes, holders: 0 }
      entries.set(key, entry)
      held += bytes
      for (const [oldestKey, oldest] of entries) {
        if (held <= maxHeldBytes) break
        drop(oldestKey, oldest)
      }
      return share(key, entry)
    },

    find<T>(key: unknown): Held<T> | undefined {
      const entry = entries.get(key)
      return entry && share(key, entry)
    },

    bytes: () => reserved + held,
  }
}
