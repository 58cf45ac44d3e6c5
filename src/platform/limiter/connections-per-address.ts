/** Limits how many connections, or anything else, a client address or a user may have open at once. */
import type { SharedSlots } from '../threads/shared-slots.ts'
import { rateKey } from './limiter.ts'

export interface ConnectionsPerAddress {
  /** Returns a function that releases the slot, or undefined if the limit is reached. */
  enter(address: string): (() => void) | undefined
  /** Whether the limit is reached. */
  isFull(address: string): boolean
}

/** Limits of different names do not count each other. */
export type LimitPerAddress = (name: string, max: number) => ConnectionsPerAddress

/**
 * Limits of one have slots of their own: among ten thousand connections, every fifth key would meet others and be refused,
 * where a limit of hundreds does not notice.
 */
export interface LimitSlots {
  readonly many: SharedSlots
  readonly single: SharedSlots
}

/** By default, counts in this thread alone. */
export function createLimitsPerAddress(shared: LimitSlots = createOwnSlots()): LimitPerAddress {
  return (name, max) => {
    const slots = max === 1 ? shared.single : shared.many
    return {
      isFull: (address) => slots.count(keyOf(name, address)) >= max,
      enter(address) {
        const key = keyOf(name, address)
        if (!slots.tryAdd(key, max)) return undefined
        let hasLeft = false
        return () => {
          if (hasLeft) return
          hasLeft = true
          slots.remove(key)
        }
      },
    }
  }
}

const keyOf = (name: string, address: string) => `${name} ${rateKey(address)}`

function createOwnSlots(): LimitSlots {
  const counts = new Map<string, number>()
  const slots: SharedSlots = {
    count: (key) => counts.get(key) ?? 0,
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
  return { many: slots, single: slots }
}
