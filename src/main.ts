/** The command line. */
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { withOwnFeatures } from './app/features.ts'
import { addGraphQLCommands } from './commands/graphql-commands.ts'
import type { GlobalOptions, Settings } from './commands/settings.ts'
import { root } from './config/root.ts'
import { readVersion } from './config/version.ts'
import { findClosestMatch } from './core/closest-match.ts'
import { exitCodes, FatalError } from './core/fatal-error.ts'
import type { FeatureCommand } from './platform/command-line/command.ts'
import type { Feature } from './platform/feature.ts'

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
    await start(await read({ forService: true }))
  })

program
  .command('migrate')
  .description("bring the database to this version's schema and exit")
  .action(async () => {
    const { migrate } = await import('./commands/migrate.ts')
    await migrate(await read({ forService: false }))
  })

program
  .command('new')
  .description('write an extension to begin with: routes, a table, GraphQL and a test, in a folder of its own')
  .argument('<name>', 'lower-case letters and digits, such as orders')
  .action(async (name: string) => {
    const { createExtension } = await import('./commands/new.ts')
    await createExtension(name)
  })

// Whoever reads our output may have read enough, as in "latchkey user:list | head".
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`latchkey: cannot write to standard output: ${error.message}\n`)
  process.exit(exitCodes.failure)
})

let extensions: readonly Feature[] = []
try {
  extensions = await loadExtensionsFor(process.argv)
  for (const feature of withOwnFeatures(extensions)) addFeatureCommands(feature)
  addGraphQLCommands(program, read)
  await program.parseAsync()
} catch (error) {
  process.exit(report(error))
}

async function read({ forService }: { forService: boolean }): Promise<Settings> {
  const { readSettings } = await import('./commands/settings.ts')
  return readSettings(program.opts<GlobalOptions>(), { forService, extensions })
}

/** Before the arguments are read: extensions may add commands. */
async function loadExtensionsFor(argv: readonly string[]): Promise<readonly Feature[]> {
  const scout = new Command().option('--config <folder>', '', join(root, 'config'))
  scout.parseOptions(argv.slice(2))
  const { loadConfigured } = await import('./commands/settings.ts')
  return loadConfigured(scout.opts<GlobalOptions>().config)
}

function addFeatureCommands(feature: Feature): void {
  for (const command of (feature.definition.commands ?? []) as readonly FeatureCommand[]) {
    const added = program.command(command.name)
    command.describe(added)
    added.action(async (...given: unknown[]) => {
      const { runFeatureCommand } = await import('./commands/feature-command.ts')
      // Commander hands over the arguments, then the options, then the command.
      const options = given.at(-2) as object
      const names = given.slice(0, -2).map(String)
      await runFeatureCommand({ feature, command }, await read({ forService: false }), { arguments: names, options })
    })
  }
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
