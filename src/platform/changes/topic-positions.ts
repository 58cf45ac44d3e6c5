/** Where readers of a topic are who have seen everything: the last entry of the topic, whatever others have logged since. */
import type { ChangeStore } from './changes.store.ts'
import type { Cursors } from './cursors.ts'

export interface TopicPositionsDeps {
  store: Pick<ChangeStore, 'lastIdOf'>
  cursors: Pick<Cursors, 'pending'>
  latest(): Promise<number>
}

export function createTopicPositions({ store, cursors, latest }: TopicPositionsDeps) {
  /** By topic: the position as of a look, and the last entry of the topic up to it. */
  const lastOf = new Map<string, { end: number; id: number }>()

  async function latestOf(topic: string): Promise<number> {
    const end = await latest()
    // Nodes of the release before know a cursor only by its entry, which retention may have removed.
    if (cursors.pending) return end
    const known = lastOf.get(topic)
    if (known?.end === end) return known.id
    const id = await store.lastIdOf(topic, end)
    lastOf.set(topic, { end, id })
    return id
  }

  return { latestOf, forget: () => lastOf.clear() }
}
