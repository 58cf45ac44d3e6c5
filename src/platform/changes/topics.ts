/** What features log, and how its entries are shown. */
import type { Change, ChangeRow, ChangeTopic } from './change.ts'

/** Without its cursor, of which each reader gets another. */
export type PresentedChange = Omit<Change, 'cursor'>

export interface ChangeTopics {
  /** Throws if another feature has it. */
  add(topic: ChangeTopic): void
  /** Every type of change that there may be. */
  types(): readonly string[]
  /** What users need to be sent all entries of these types. */
  permissionsFor(isWanted: (type: string) => boolean): readonly string[]
  /** Undefined for an entry of a feature that is not there now. */
  present(row: ChangeRow): PresentedChange | undefined
}

export function createChangeTopics(): ChangeTopics {
  const topics = new Map<string, ChangeTopic>()
  const types = () => [...topics.values()].flatMap((topic) => topic.types)
  return {
    add(added) {
      const taken = types()
      const clash = topics.has(added.topic) ? added.topic : added.types.find((type) => taken.includes(type))
      if (clash !== undefined) throw new Error(`"${clash}" is logged by two features`)
      topics.set(added.topic, added)
    },
    types,
    permissionsFor: (isWanted) =>
      [...topics.values()].flatMap(({ types, permissions = [] }) => (types.some(isWanted) ? permissions : [])),
    present(row) {
      const { topic, type, at, data } = row
      const found = topics.get(topic)
      const version = found?.versionOf?.(type, data)
      return found && { type, at, ...(version !== undefined && { version }), data: found.present(data) }
    },
  }
}
