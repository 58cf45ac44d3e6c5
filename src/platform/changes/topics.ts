/** What features log, and how its entries are shown. */
import { type Change, type ChangeRow, type ChangeTopic, cursorOf } from './change.ts'

export interface ChangeTopics {
  /** Throws if another feature has it. */
  add(topic: ChangeTopic): void
  /** Every type of change that there may be. */
  types(): readonly string[]
  /** Undefined for an entry of a feature that is not there now. */
  present(row: ChangeRow): Change | undefined
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
    present(row) {
      const { id, topic, type, at, data } = row
      const found = topics.get(topic)
      return found && { cursor: cursorOf(id), type, at, data: found.present(data) }
    },
  }
}
