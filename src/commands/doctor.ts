import { examine } from '../app/doctor/doctor.ts'
import { type Finding, type Status, worstOf } from '../app/doctor/finding.ts'
import type { Settings } from './settings.ts'

/** Those of monitoring plug-ins: https://nagios-plugins.org/doc/guidelines.html */
const exitCodes: Readonly<Record<Status, number>> = { ok: 0, warning: 1, problem: 2 }

export async function doctor(
  { config, extensions }: Settings,
  { startProblems, json = false }: { startProblems: readonly string[]; json?: boolean | undefined },
): Promise<void> {
  const findings = await examine({ config, extensions, startProblems })
  const status = worstOf(findings)
  const report = json ? `${JSON.stringify({ status, checks: findings }, null, 2)}\n` : printLines(findings)
  process.stdout.write(report)
  process.exitCode = exitCodes[status]
}

function printLines(findings: readonly Finding[]): string {
  const width = 'problem'.length
  return findings.map(({ status, text }) => `${status.padEnd(width)}  ${text}\n`).join('')
}
