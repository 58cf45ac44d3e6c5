import type { Clock } from '../../core/clock.ts'
import type { ChangeStore } from './changes.store.ts'

/** How old the oldest entry after this position is. 0 if there is none. */
export async function findLagSeconds(store: Pick<ChangeStore, 'timeAfter'>, position: number, clock: Clock) {
  const at = await store.timeAfter(position)
  return at === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(at)) / 1000)
}
