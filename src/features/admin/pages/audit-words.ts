/** Texts for the outcomes and changes of the audit trail. */
import type { AuditChanges, AuditOutcome } from '../../../platform/audit/audit.ts'

export const outcomeWords: Readonly<Record<AuditOutcome, string>> = {
  success: 'Done',
  failure: 'Failed',
  locked: 'Locked',
  refused: 'Refused',
  second_factor_required: 'Asked for a code',
  reuse: 'Old token used again',
}

/** Unknown codes, as of another version, are returned as they are. */
export function wordsOfOutcome(outcome: string): string {
  return Object.hasOwn(outcomeWords, outcome) ? outcomeWords[outcome as AuditOutcome] : outcome
}

/** One line for each field: `roles: viewer → editor, viewer`. */
export function wordsOfChanges(changes: AuditChanges | null): string[] {
  return Object.entries(changes ?? {}).map(([field, { from, to }]) => {
    const [before, after] = [wordsOfValue(from), wordsOfValue(to)]
    // What it was about, rather than what changed.
    if (before === after) return `${nameOf(field)}: ${after}`
    return `${nameOf(field)}: ${before} → ${after}`
  })
}

function nameOf(field: string): string {
  return field.replaceAll('_', ' ').replace(/^api\b/, 'API')
}

function wordsOfValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '')
  return text === '' ? 'none' : text
}
