/** Texts for the outcomes and changes of the audit trail. */
import type { AuditOutcome } from '../../../platform/audit/audit.ts'

const outcomes: Record<AuditOutcome, string> = {
  success: 'Done',
  failure: 'Failed',
  locked: 'Locked',
  refused: 'Refused',
  second_factor_required: 'Asked for a code',
  reuse: 'Old token used again',
}

/** Unknown codes, as of another version, are returned as they are. */
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
