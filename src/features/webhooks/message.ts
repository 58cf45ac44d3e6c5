import type { ChangeRow } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import { type Message, messageIdOf } from './webhook.ts'

/** Undefined for an entry of a feature that is not there now. */
export function toMessage(row: ChangeRow, { topics }: Pick<ChangeLog, 'topics'>): Message | undefined {
  const change = topics.present(row)
  return change && { id: messageIdOf(row.id), changeId: row.id, type: change.type, at: change.at, data: change.data }
}
