/** The command line. */
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { addGraphQLCommands } from './commands/graphql-commands.ts'
import { addProductCommands } from './commands/product-commands.ts'
import type { GlobalOptions } from './commands/settings.ts'
import { root } from './config/root.ts'
import { readVersion } from './config/version.ts'
import { findClosestMatch } from './core/closest-match.ts'
import { exitCodes, FatalError } from './core/fatal-error.ts'

const program = new Command('latchkey')
  .description('Token authentication, authorization, a product API and GraphQL in one service.')
  .version(readVersion())
  .option('--config <folder>', 'read the configuration from this folder', join(root, 'config'))
  .option('--debug', 'show the stack trace of an error')
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'latchkey: ')) })
  .exitOverride()

// Each command is loaded when it is called: --help need not wait for a web server to be read.

program
  .command('start', { isDefault: true })
  .description('serve until SIGTERM or SIGINT (the default)')
  .addHelpText('after', '\nThe configuration is read from config/*.mlc, then from the environment, which wins.')
  .allowExcessArguments()
  .action(async (_options: object, command: Command) => {
    const [unknown] = command.args
    if (unknown !== undefined) throw unknownCommand(unknown)
    const { start } = await import('./commands/start.ts')
    await start(program.opts<GlobalOptions>())
  })

program
  .command('migrate')
  .description("bring the database to this version's schema and exit")
  .action(async () => {
    const { migrate } = await import('./commands/migrate.ts')
    await migrate(program.opts<GlobalOptions>())
  })

program
  .command('user:create')
  .description('make a user; the password is prompted for, or read from standard input')
  .requiredOption('--email <email>', 'the email to sign in with')
  .option('--name <name>', 'the name that people see', '')
  .option('--role <role...>', 'a role that the user gets; may be repeated', [])
  .action(async (given: { email: string; name: string; role: string[] }) => {
    const { createUser } = await import('./commands/users.ts')
    await createUser(given, program.opts<GlobalOptions>())
  })

program
  .command('user:roles')
  .description("show a user's roles, or change them; works from the user's next request on")
  .argument('<email>')
  .option('--set <roles>', 'exactly these, separated by commas; "" for none')
  .option('--add <roles>', 'these too')
  .option('--remove <roles>', 'these no longer')
  .action(async (email: string, change: { set?: string; add?: string; remove?: string }) => {
    const { changeRoles } = await import('./commands/users.ts')
    await changeRoles(email, change, program.opts<GlobalOptions>())
  })

program
  .command('user:unlock')
  .description('end the lock that too many failed attempts have set')
  .argument('<email>')
  .action(async (email: string) => {
    const { unlockUser } = await import('./commands/users.ts')
    await unlockUser(email, program.opts<GlobalOptions>())
  })

program
  .command('user:list')
  .description('list all users: id, email, name, roles, 2fa, locked, separated by tabs')
  .action(async () => {
    const { listUsers } = await import('./commands/users.ts')
    await listUsers(program.opts<GlobalOptions>())
  })

addProductCommands(program)
addGraphQLCommands(program)

// Whoever reads our output may have read enough, as in "latchkey user:list | head".
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`latchkey: cannot write to standard output: ${error.message}\n`)
  process.exit(exitCodes.failure)
})

try {
  await program.parseAsync()
} catch (error) {
  process.exit(report(error))
}

/** Without a command we start, so commander takes an unknown one for an argument of that. */
function unknownCommand(name: string): FatalError {
  const nearest = findClosestMatch(
    name,
    program.commands.map((command) => command.name()),
  )
  const hint = nearest ? `did you mean '${nearest}'?` : 'latchkey --help lists them'
  return new FatalError(`unknown command '${name}'; ${hint}`, exitCodes.usage)
}

/** One clear line for each problem; answers the exit code. */
function report(error: unknown): number {
  // Commander has said what it had to say, help and version included.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
  const isForeseen = error instanceof FatalError
  for (const line of isForeseen ? error.lines : [`unexpected error: ${(error as Error).message}`]) {
    process.stderr.write(`latchkey: ${line}\n`)
  }
  if (program.opts<GlobalOptions>().debug) process.stderr.write(`${(error as Error).stack}\n`)
  else if (!isForeseen) process.stderr.write('latchkey: run again with --debug to see where\n')
  return isForeseen ? error.exitCode : exitCodes.internal
}
