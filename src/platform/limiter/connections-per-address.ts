/** Limits how many connections a client address may have open at once. */
import { rateKey } from './limiter.ts'

export interface ConnectionsPerAddress {
  /** Returns a function that releases the slot, or undefined if the limit is reached. */
  enter(address: string): (() => void) | undefined
}

export function createConnectionsPerAddress(max: number): ConnectionsPerAddress {
  const counts = new Map<string, number>()
  return {
    enter(address) {
      const key = rateKey(address)
      const count = counts.get(key) ?? 0
      if (count >= max) return undefined
      counts.set(key, count + 1)
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        const left = (counts.get(key) ?? 1) - 1
        if (left === 0) counts.delete(key)
        else counts.set(key, left)
      }
    },
  }
}
