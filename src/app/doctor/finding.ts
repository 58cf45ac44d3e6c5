export type Status = 'ok' | 'warning' | 'problem'

/** The result of one check. */
export interface Finding {
  /** Stable, for programs. */
  id: string
  status: Status
  /** What was found and, unless it is fine, what to do. One line. */
  text: string
}

/** A finding that is fine if `isFine`, else of the given status. */
export function judge(
  id: string,
  { isFine, fine, otherwise }: { isFine: boolean; fine: string; otherwise: [Exclude<Status, 'ok'>, string] },
): Finding {
  const [status, text] = otherwise
  return isFine ? { id, status: 'ok', text: fine } : { id, status, text }
}

const order: readonly Status[] = ['ok', 'warning', 'problem']

export function worstOf(findings: readonly Finding[]): Status {
  return order[Math.max(0, ...findings.map(({ status }) => order.indexOf(status)))] as Status
}
