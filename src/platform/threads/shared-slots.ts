/**
 * Counts per key that the threads of a process share, such as open connections per client address. Lock-free, in shared
 * memory, because a connection is admitted or refused without waiting.
 *
 * Keys share slots by hash. Each key has a slot in two rows and counts as the smaller of both, so two keys disturb each
 * other only if they meet in both rows. Each thread's own share is kept too, and taken back if the thread dies.
 */
import type { Random } from '../../core/random.ts'

const rows = 2
const slotsPerRow = 16_384

export interface SharedSlotsMemory {
  readonly total: SharedArrayBuffer
  /** By thread. */
  readonly shares: readonly SharedArrayBuffer[]
  /** Makes the places of keys unpredictable. */
  readonly seeds: readonly number[]
}

export function createSharedSlotsMemory(threads: number, random: Random): SharedSlotsMemory {
  const bytes = rows * slotsPerRow * Int32Array.BYTES_PER_ELEMENT
  return {
    total: new SharedArrayBuffer(bytes),
    shares: Array.from({ length: threads }, () => new SharedArrayBuffer(bytes)),
    seeds: Array.from({ length: rows }, () => random.bytes(4).readUInt32LE()),
  }
}

export interface SharedSlots {
  /** Returns false, and counts nothing, if the key has reached `max`. */
  tryAdd(key: string, max: number): boolean
  remove(key: string): void
  count(key: string): number
}

export function openSharedSlots({ total, shares, seeds }: SharedSlotsMemory, thread: number): SharedSlots {
  const all = new Int32Array(total)
  const own = new Int32Array(shares[thread] as SharedArrayBuffer)
  const placesOf = (key: string) => seeds.map((seed, row) => row * slotsPerRow + (hash(key, seed) % slotsPerRow))

  function add(places: readonly number[], change: 1 | -1): number {
    let before = Number.POSITIVE_INFINITY
    for (const place of places) {
      // In this order: a thread that dies in between must not leave a share that was never counted.
      before = Math.min(before, Atomics.add(all, place, change))
      Atomics.add(own, place, change)
    }
    return before
  }

  return {
    tryAdd(key, max) {
      const places = placesOf(key)
      if (add(places, 1) < max) return true
      add(places, -1)
      return false
    },
    remove: (key) => void add(placesOf(key), -1),
    count: (key) => Math.min(...placesOf(key).map((place) => Atomics.load(all, place))),
  }
}

/** Takes back what a thread that has died still held. */
export function releaseShare({ total, shares }: SharedSlotsMemory, thread: number): void {
  const all = new Int32Array(total)
  const own = new Int32Array(shares[thread] as SharedArrayBuffer)
  for (let place = 0; place < own.length; place++) {
    const held = Atomics.exchange(own, place, 0)
    if (held !== 0) Atomics.sub(all, place, held)
  }
}

/** FNV-1a, with a final mix because the low bits choose the slot. */
function hash(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
