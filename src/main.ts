/** The command line. */
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { withOwnFeatures, withoutDisabled } from './app/features.ts'
import { addDoctorCommand } from './commands/doctor-command.ts'
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

// Commands are imported when they run, so that --help does not load a web server.

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
  .command('collections:diff')
  .description('write the migrations that the declared collections need, for both engines')
  .option('--name <name>', 'of the migration, such as add-due-dates')
  .addHelpText(
    'after',
    '\nNothing is applied: review what was written, and commit it. A change that could lose values is refused.',
  )
  .action(async (options: { name?: string }) => {
    const { collectionsDiff } = await import('./commands/collections-diff.ts')
    await collectionsDiff(await read({ forService: false }), options)
  })

program
  .command('collections:show')
  .description('show the declared collections with their fields, rules and lists')
  .argument('[name]', 'of one collection; all by default')
  .action(async (name: string | undefined) => {
    const { collectionsShow } = await import('./commands/collections-show.ts')
    collectionsShow(settings.extensions, name)
  })

program
  .command('new')
  .description('write an extension to begin with: routes, a table, GraphQL and a test, in a folder of its own')
  .argument('<name>', 'lower-case letters and digits, such as orders')
  .action(async (name: string) => {
    const { createExtension } = await import('./commands/new.ts')
    await createExtension(name)
  })

// The reader of a pipe may close it early, as in "latchkey user:list | head".
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`latchkey: cannot write to standard output: ${error.message}\n`)
  process.exit(exitCodes.failure)
})

let settings: Awaited<ReturnType<typeof readFeatureSettingsFor>>

/** Resolves when the command has ended, or when the service listens. */
export const finished = run().catch((error) => process.exit(report(error)))

async function run(): Promise<void> {
  settings = await readFeatureSettingsFor(process.argv)
  const { extensions } = settings
  for (const feature of withoutDisabled(withOwnFeatures(extensions), settings.disabled)) addFeatureCommands(feature)
  addGraphQLCommands(program, read)
  addDoctorCommand(program, read)
  await program.parseAsync()
}

async function read({ forService }: { forService: boolean }): Promise<Settings> {
  const { readSettings } = await import('./commands/settings.ts')
  return readSettings(settings.sources, { forService, extensions: settings.extensions })
}

/** Runs before the arguments are parsed, because features add commands. */
async function readFeatureSettingsFor(argv: readonly string[]) {
  const globalOptions = new Command().option('--config <folder>', '', join(root, 'config'))
  globalOptions.parseOptions(argv.slice(2))
  const { readFeatureSettings } = await import('./commands/feature-settings.ts')
  return readFeatureSettings(globalOptions.opts<GlobalOptions>().config)
}

function addFeatureCommands(feature: Feature): void {
  for (const command of (feature.definition.commands ?? []) as readonly FeatureCommand[]) {
    const added = program.command(command.name)
    command.describe(added)
    added.action(async (...given: unknown[]) => {
      const { runFeatureCommand } = await import('./commands/feature-command.ts')
      // Commander passes the arguments, then the options, then the command itself.
      const options = given.at(-2) as object
      const names = given.slice(0, -2).map(String)
      await runFeatureCommand({ feature, command }, await read({ forService: false }), { arguments: names, options })
    })
  }
}

/** `start` is the default command, so commander parses an unknown command as an argument of it. */
function unknownCommand(name: string): FatalError {
  const nearest = findClosestMatch(
    name,
    program.commands.map((command) => command.name()),
  )
  const hint = nearest ? `did you mean '${nearest}'?` : 'latchkey --help lists them'
  return new FatalError(`unknown command '${name}'; ${hint}`, exitCodes.usage)
}

/** Prints one line per problem. Returns the exit code. */
function report(error: unknown): number {
  // Commander has already printed its message, or the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
  const isForeseen = error instanceof FatalError
  for (const line of isForeseen ? error.lines : [`unexpected error: ${(error as Error).message}`]) {
    process.stderr.write(`latchkey: ${line}\n`)
  }
  if (program.opts<GlobalOptions>().debug) process.stderr.write(`${(error as Error).stack}\n`)
  else if (!isForeseen) process.stderr.write('latchkey: run again with --debug to see where\n')
  return isForeseen ? error.exitCode : exitCodes.internal
}
