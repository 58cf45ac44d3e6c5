/** How much memory long answers hold while their clients read them. Nobody is refused for it: beyond it they are read again. */
import type { ServerResponse } from 'node:http'
import { onAnswerEnd } from './answer-end.ts'

/**
 * A value that can be made again, shared by all who hold the same key. It goes when the last of them releases it, or
 * when more recently used ones need its room.
 */
export interface Held<T> {
  /** Undefined once it has been given up. */
  get(): T | undefined
  release(): void
}

export interface ResponseMemory {
  /** Counts the bytes of a whole answer until its connection has got it or is gone. False where there is no room. */
  tryReserve(response: ServerResponse, bytes: number): boolean
  hold<T>(key: unknown, value: T, bytes: number): Held<T>
  /** What somebody else holds by now. */
  find<T>(key: unknown): Held<T> | undefined
  /** What is reserved and held now. */
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
  // The least recently used first.
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
      // A connection that is closed already would never give them back.
      if (response.closed || response.destroyed || reserved + bytes > maxReservedBytes) return false
      reserved += bytes
      onAnswerEnd(response, () => {
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
      for (const [oldest, its] of entries) {
        if (held <= maxHeldBytes) break
        drop(oldest, its)
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
