import type { ChangeRow } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Message } from './webhook.ts'

/** Undefined for an entry of a feature that is not there now. */
export function toMessage(
  row: ChangeRow,
  { topics, cursors }: Pick<ChangeLog, 'topics' | 'cursors'>,
): Message | undefined {
  const change = topics.present(row)
  if (!change) return undefined
  const { type, at, version, data } = change
  return { id: messageIdOf(cursors.nameOf(row.id), version), changeId: row.id, type, at, data }
}

/** Signed with the message, so a receiver can trust the version. Nodes of the release before send positions, and no version. */
function messageIdOf(name: string, version: number | undefined): string {
  return version === undefined || /^\d+$/.test(name) ? `msg_${name}` : `msg_${name}_${version}`
}
