/**
 * Changes of many products. Each is changed only in the version that the user saw, so what somebody else has changed since is
 * told and not overwritten. A chunk is one transaction: whatever happens, every product is either as it was or as wanted.
 */
import type { Product, ProductChange } from './product.ts'
import type { Actor } from './product-changes.store.ts'
import type { Picked, ProductStore } from './products.store.ts'

/** Tens of milliseconds of writing. */
const picksPerWrite = 50
const minCents = 1
const maxCents = 9_999_999_999

export interface Outcome {
  /** Ids. */
  changed: readonly number[]
  /** How many were already as wanted. */
  same: number
  /** Those that somebody else has changed, as they are now. */
  stale: readonly Product[]
  /** How many are deleted. */
  gone: number
}

/** What was picked, as it is now. */
export interface PickedProducts {
  /** In the version that was picked. */
  current: readonly Product[]
  stale: readonly Product[]
  gone: number
}

export interface BulkChangesDeps {
  store: Pick<ProductStore, 'readPicked' | 'updateMany' | 'deleteMany' | 'restoreMany'>
  /** Called after every committed chunk. */
  onChanged(): void
}

export type BulkChanges = ReturnType<typeof createBulkChanges>

export function createBulkChanges({ store, onChanged }: BulkChangesDeps) {
  async function read(picked: readonly Picked[]): Promise<PickedProducts> {
    const versions = new Map(picked.map(({ id, version }) => [id, version]))
    const products = await store.readPicked([...versions.keys()])
    const isCurrent = ({ id, version }: Product) => versions.get(id) === version
    return {
      current: products.filter(isCurrent),
      stale: products.filter((product) => !isCurrent(product)),
      gone: versions.size - products.length,
    }
  }

  async function inChunks<Each>(
    all: readonly Each[],
    write: (some: readonly Each[]) => Promise<Set<number>>,
  ): Promise<Set<number>> {
    const changed = new Set<number>()
    for (let start = 0; start < all.length; start += picksPerWrite) {
      for (const id of await write(all.slice(start, start + picksPerWrite))) changed.add(id)
      onChanged()
    }
    return changed
  }

  /** Those that changed between reading and writing are told too. */
  async function tell(
    picked: readonly Picked[],
    { changed, same }: { changed: ReadonlySet<number>; same: number },
  ): Promise<Outcome> {
    const left = picked.filter(({ id }) => !changed.has(id))
    const { stale, gone } = await read(left)
    return { changed: [...changed], same, stale, gone }
  }

  return {
    read,

    /** `toChange` returns undefined for a product that is as wanted. */
    async update(picked: readonly Picked[], toChange: (product: Product) => ProductChange | undefined, by: Actor) {
      const { current } = await read(picked)
      const changes = current.flatMap((product) => {
        const change = toChange(product)
        return change ? [{ id: product.id, version: product.version, change }] : []
      })
      const changed = await inChunks(changes, (some) => store.updateMany(some, by))
      return tell(picked, { changed, same: current.length - changes.length })
    },

    async delete(picked: readonly Picked[], by: Actor): Promise<Outcome> {
      return tell(picked, { changed: await inChunks(picked, (some) => store.deleteMany(some, by)), same: 0 })
    },

    /** Undoes deletions. Returns how many. */
    async restore(ids: readonly number[], by: Actor): Promise<number> {
      const all = ids.map((id) => ({ id }))
      return (await inChunks(all, (some) => store.restoreMany(some, by))).size
    },
  }
}

/** In hundredths of a percent. Rounded half up, like every price. */
export function priceAfter(cents: number, percentHundredths: number): number {
  // Beyond the range of exact floats.
  const scaled = BigInt(cents) * BigInt(10_000 + percentHundredths)
  return Number((scaled + 5_000n) / 10_000n)
}

export function isPrice(cents: number): boolean {
  return cents >= minCents && cents <= maxCents
}
