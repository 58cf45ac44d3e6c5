/** What the audit trail keeps as codes, in words. */
import type { AuditEvent, AuditOutcome } from '../../../platform/audit/audit.ts'

const events: Record<AuditEvent, string> = {
  register: 'Registered',
  login: 'Sign-in',
  '2fa_verify': 'Sign-in with a code',
  refresh: 'Session renewed',
  logout: 'Signed out',
  logout_all: 'Signed out everywhere',
  session_end: 'Device signed out',
  sessions_ended: 'Signed out by an administrator',
  lock: 'Account locked',
  unlock: 'Account unlocked',
  name_change: 'Name changed',
  password_change: 'Password changed',
  password_forgot: 'Password reset asked for',
  password_reset: 'Password reset',
  '2fa_setup': 'Two-factor set-up begun',
  '2fa_enable': 'Two-factor turned on',
  '2fa_disable': 'Two-factor turned off',
  '2fa_recovery_codes': 'New recovery codes',
  '2fa_reset': 'Two-factor removed by an administrator',
  roles_changed: 'Roles changed',
}

const outcomes: Record<AuditOutcome, string> = {
  success: 'Done',
  failure: 'Failed',
  locked: 'Locked',
  refused: 'Refused',
  second_factor_required: 'Asked for a code',
  reuse: 'Old token used again',
}

/** A code from another version stands for itself. */
export function wordsOfEvent(event: string): string {
  return Object.hasOwn(events, event) ? events[event as AuditEvent] : event
}

export function wordsOfOutcome(outcome: string): string {
  return Object.hasOwn(outcomes, outcome) ? outcomes[outcome as AuditOutcome] : outcome
}

/** `roles: viewer → editor, viewer` */
export function wordsOfChange(field: string, { from, to }: { from: unknown; to: unknown }): string {
  return `${field}: ${wordsOfValue(from)} → ${wordsOfValue(to)}`
}

function wordsOfValue(value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '')
  return text === '' ? 'none' : text
}
