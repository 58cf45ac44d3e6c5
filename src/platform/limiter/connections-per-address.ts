/** Limits how many connections, or anything else, a client address may have open at once. */
import type { SharedSlots } from '../threads/shared-slots.ts'
import { rateKey } from './limiter.ts'

export interface ConnectionsPerAddress {
  /** Returns a function that releases the slot, or undefined if the limit is reached. */
  enter(address: string): (() => void) | undefined
}

/** Limits of different names do not count each other. */
export type LimitPerAddress = (name: string, max: number) => ConnectionsPerAddress

/** Without `shared`, counts in this thread alone. */
export function createLimitsPerAddress(shared?: SharedSlots): LimitPerAddress {
  const slots = shared ?? createOwnSlots()
  return (name, max) => ({
    enter(address) {
      const key = `${name} ${rateKey(address)}`
      if (!slots.tryAdd(key, max)) return undefined
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        slots.remove(key)
      }
    },
  })
}

function createOwnSlots(): SharedSlots {
  const counts = new Map<string, number>()
  return {
    tryAdd(key, max) {
      const count = counts.get(key) ?? 0
      if (count >= max) return false
      counts.set(key, count + 1)
      return true
    },
    remove(key) {
      const left = (counts.get(key) ?? 1) - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    },
  }
}
