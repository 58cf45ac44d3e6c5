/** Metrics of signing in. Labels are fixed codes, never client input. */

import type { AuditEvent, AuditOutcome, CountEvent } from '../../platform/audit/audit.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'

interface CounterOptions {
  name: string
  help: string
  counts(event: AuditEvent, outcome: AuditOutcome): boolean
  label?: { name: 'event' | 'outcome'; values: readonly string[] }
}

const attempts = ['success', 'failure', 'locked'] as const
/** Events in which a password, a code or a passkey is checked. */
const checks = [
  'login',
  '2fa_verify',
  'password_change',
  '2fa_setup',
  '2fa_disable',
  '2fa_recovery_codes',
  'passkey_login',
  'passkey_added',
  'passkey_removed',
  'email_change',
  'email_verified',
  'account_deleted',
] as const

const counters: readonly CounterOptions[] = [
  {
    name: 'auth_logins_total',
    help: 'Logins by password, by how they ended.',
    counts: (event) => event === 'login',
    label: { name: 'outcome', values: [...attempts, 'second_factor_required'] },
  },
  {
    name: 'auth_two_factor_verifications_total',
    help: 'Codes presented to complete a login, by how that ended.',
    counts: (event) => event === '2fa_verify',
    label: { name: 'outcome', values: attempts },
  },
  {
    name: 'auth_passkey_logins_total',
    help: 'Logins by passkey, by how they ended.',
    counts: (event) => event === 'passkey_login',
    label: { name: 'outcome', values: ['success', 'failure'] },
  },
  {
    name: 'auth_failures_total',
    help: 'Wrong passwords, codes and passkeys, by where they were presented.',
    counts: (_event, outcome) => outcome === 'failure',
    label: { name: 'event', values: checks },
  },
  { name: 'auth_locks_total', help: 'Lock-outs that began.', counts: (event) => event === 'lock' },
  {
    name: 'auth_refresh_reuse_total',
    help: 'Used refresh tokens that were presented again.',
    counts: (_event, outcome) => outcome === 'reuse',
  },
  {
    name: 'auth_registrations_total',
    help: 'Users who registered.',
    counts: (event, outcome) => event === 'register' && outcome === 'success',
  },
  {
    name: 'auth_password_resets_total',
    help: 'Passwords set anew by a mailed link.',
    counts: (event, outcome) => event === 'password_reset' && outcome === 'success',
  },
]

export function createAuthCounters(metrics: Pick<Metrics, 'addCounter'>): CountEvent {
  const added = counters.map(({ name, help, counts, label }) => ({
    counts,
    add: metrics.addCounter({ name, help, ...(label && { label }) }),
    labelOf: (event: AuditEvent, outcome: AuditOutcome) => (label?.name === 'event' ? event : outcome),
  }))
  return (event, outcome) => {
    for (const { counts, add, labelOf } of added) if (counts(event, outcome)) add(labelOf(event, outcome))
  }
}
