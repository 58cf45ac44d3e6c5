import type { LatchkeyStorage, StoredState } from './storage.ts'

/** Forgets everything when the program ends. Clients that are given the same one share the session. */
export function memoryStorage(): LatchkeyStorage {
  const listeners = new Set<() => void>()
  let state: StoredState = {}
  return {
    read: async () => state,
    async update(change) {
      const before = state
      state = change(before)
      if (state !== before) for (const listener of listeners) queueMicrotask(listener)
      return state
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
