/** The command doctor: its options and help. */
import type { Command } from 'commander'
import type { Settings } from './settings.ts'

const doctorHelp = `
Checks the settings that production needs, the database, Redis, the mail server, the OpenTelemetry collector, scheduled
backups, clocks, disk space and migrations. Each line is ok, warning or problem, and says what to do. It changes nothing.
Run it as the user and with the variables of the service.

Exit codes: 0 everything is fine, 1 there are warnings, 2 there are problems, 78 the configuration cannot be read.`

export function addDoctorCommand(
  program: Command,
  read: (options: { forService: boolean }) => Promise<Settings>,
): void {
  program
    .command('doctor')
    .description('check the configuration and what it names against what production wants; change nothing')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', doctorHelp)
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import('./doctor.ts')
      const { findStartProblems } = await import('./settings.ts')
      const settings = await read({ forService: false })
      const startProblems = findStartProblems(settings)
      await doctor(settings, { ...options, startProblems })
    })
}
