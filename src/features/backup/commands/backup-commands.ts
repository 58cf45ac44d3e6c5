/** backup, restore and move: their options and help. */
import { defineCommand } from '../../../platform/command-line/command.ts'
import type { BackupService } from '../backup.create.ts'
import type { BackupOptions } from './backup.ts'
import type { MoveOptions } from './move.ts'
import type { RestoreOptions } from './restore.ts'

const backupHelp = `
The archive is one moment of the database, whatever is written meanwhile; the service goes on. It fits either database
engine. It holds password hashes and sessions: only its owner can read the file, and you should keep it safe.
The secrets of the configuration (JWT_SECRET, APP_KEY) are not in it.

Examples:
  latchkey backup latchkey.archive
  latchkey backup - | ssh backup.example 'cat > latchkey.archive'`

const restoreHelp = `
Every byte of the archive is checked first, and every row is compared afterwards. All of it is restored or nothing: until
the last moment, the database stays as it is. The service must be stopped.

Examples:
  latchkey restore latchkey.archive
  latchkey restore --replace latchkey.archive
  latchkey restore --check latchkey.archive

Exit codes: 0 restored, 65 the archive is damaged or does not fit, or the database is not empty, 66 the archive cannot be
read, 69 the database is in use or cannot be reached.`

const moveHelp = `
Copies everything from the configured database to another, of either engine, and compares every row. The configured
database stays as it is. Stop the service, move, then set DATABASE_URL to the new one and start. With the same secrets,
nobody is signed out. Other users of this machine can see arguments: leave the password of PostgreSQL out of the URL, and
put it into ~/.pgpass or PGPASSWORD.

Examples:
  latchkey move --to postgres://latchkey@db.example/latchkey
  latchkey move --to file:/var/lib/latchkey/latchkey.db`

export const backupCommands = [
  defineCommand<BackupService, BackupOptions>({
    name: 'backup',
    describe: (command) =>
      void command
        .description('write the whole database to one archive, also while the service runs')
        .argument('<file>', 'the archive to write; - is standard output')
        .option('--force', 'replace the file if it exists')
        .option('--quiet', 'show no progress')
        .addHelpText('after', backupHelp),
    async run(context, { arguments: [file], options }) {
      await (await import('./backup.ts')).backUpTo(context, String(file), options)
    },
  }),

  defineCommand<BackupService, RestoreOptions>({
    name: 'restore',
    describe: (command) =>
      void command
        .description('fill the database from an archive')
        .argument('<file>', 'the archive')
        .option('--replace', 'replace what is in the database')
        .option('--check', 'only check the archive, and tell what it holds')
        .option('--quiet', 'show no progress')
        .addHelpText('after', restoreHelp),
    async run(context, { arguments: [file], options }) {
      await (await import('./restore.ts')).restoreFrom(context, String(file), options)
    },
  }),

  defineCommand<BackupService, MoveOptions>({
    name: 'move',
    describe: (command) =>
      void command
        .description('copy everything to another database, of either engine')
        .requiredOption('--to <url>', 'the other database, as in DATABASE_URL; it must be empty')
        .option('--replace', 'replace what is in the other database')
        .option('--while-running', 'also while the service runs; what it writes from now on is not copied')
        .option('--quiet', 'show no progress')
        .addHelpText('after', moveHelp),
    async run(context, { options }) {
      await (await import('./move.ts')).moveTo(context, options)
    },
  }),
]
