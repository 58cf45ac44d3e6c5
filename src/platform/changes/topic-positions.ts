/** Where readers of a topic are who have seen everything: the last entry of the topic, whatever others have logged since. */
import type { Dialect } from '../database/database.ts'
import type { ChangeStore } from './changes.store.ts'
import type { Cursors } from './cursors.ts'

export interface TopicPositionsDeps {
  store: Pick<ChangeStore, 'lastIdOf' | 'readSince'>
  dialect: Dialect
  cursors: Pick<Cursors, 'pending'>
  latest(): Promise<number>
}

export interface TopicState {
  /** As of `latestOf`. */
  position: number
  /** Equal to that of an earlier call if no change of the topic has been committed in between, by whomever. */
  state: string
}

export function createTopicPositions({ store, dialect, cursors, latest }: TopicPositionsDeps) {
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

  async function stateOf(topic: string, table: string): Promise<TopicState> {
    const position = await latestOf(topic)
    // PostgreSQL commits entries in another order than that of their ids, and the position may be a second old. Up to there
    // nothing comes any more, so the number of entries beyond it grows with each commit.
    const since = dialect === 'postgres' ? ` ${await store.readSince(topic, position, table)}` : ''
    return { position, state: `${position}${since}` }
  }

  return { latestOf, stateOf, forget: () => lastOf.clear() }
}
