/** Account events in the change log, which the trigger of migration 0022 copies from the audit trail. */
import type { Audit } from '../../platform/audit/audit.ts'
import type { ChangeTopic } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'

export const accountTopic: ChangeTopic = {
  topic: 'accounts',
  // They have emails, names and addresses.
  permissions: ['users.view', 'audit.view'],
  types: [
    'user.registered',
    'user.invited',
    'user.email_verified',
    'user.updated',
    'user.roles_changed',
    'user.locked',
    'user.unlocked',
    'user.disabled',
    'user.enabled',
    'user.deleted',
    'user.password_changed',
    'user.password_reset',
    'user.two_factor_enabled',
    'user.two_factor_disabled',
    'user.passkey_added',
    'user.passkey_removed',
    'user.api_key_created',
    'user.api_key_ended',
    'session.reuse_detected',
  ],
  present: (stored) => JSON.parse(stored),
}

/** Audit entries that are counted are committed, so readers of the log look at once. */
export function wakeOnAccountEvents(audit: Audit, changes: Pick<ChangeLog, 'wake'>): void {
  audit.onCount((event, outcome) => {
    if (event === 'login' || (event === 'refresh' && outcome !== 'reuse')) return
    changes.wake()
  })
}
