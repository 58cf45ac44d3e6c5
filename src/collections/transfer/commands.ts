/** The commands of a collection: import, export and seed. They act as the service itself, which may do everything. */
import { defineCommand, type FeatureCommand } from '../../platform/command-line/command.ts'
import { formatOption, parseCount, parseDelimiter } from '../../platform/command-line/file-options.ts'
import type { OpenCollection } from './export.ts'

export function createCommands(name: string): FeatureCommand<OpenCollection>[] {
  const words = name.replaceAll('-', ' ')
  return [
    defineCommand<OpenCollection, import('./import.ts').ImportOptions>({
      name: `${name}:import`,
      describe: (command) =>
        void command
          .description(`add the ${words} of a CSV or NDJSON file`)
          .argument('<file>', 'the file; - is standard input')
          .addOption(formatOption('what the file is; by its ending .csv, .ndjson or .jsonl otherwise'))
          .option(
            '--delimiter <character>',
            'what separates the fields of a CSV row; \\t is a tab',
            parseDelimiter,
            ',',
          )
          .option('--exact', "take cells of CSV as they are, also an apostrophe in front of a formula: '=1+1")
          .option('--strict', 'check the whole file first, and import nothing if any row is wrong')
          .option('--again', 'import a file that has been imported before once more')
          .option('--max-errors <n>', 'show so many of the rows that are wrong', parseCount, 20)
          .option('--quiet', 'show no progress')
          .addHelpText('after', importHelp(name)),
      async run(context, { arguments: [file], options }) {
        const { importRows } = await import('./import.ts')
        await importRows(context, String(file), options)
      },
    }),

    defineCommand<OpenCollection, import('./export-command.ts').ExportOptions>({
      name: `${name}:export`,
      describe: (command) =>
        void command
          .description(`write all ${words} that are not deleted, by id`)
          .addOption(formatOption("what to write; by the output's ending otherwise, and csv without one"))
          .option('--output <file>', 'write to this file instead of standard output')
          .option('--exact', 'write cells of CSV as they are, also those that a spreadsheet would take for formulas')
          .option('--force', 'replace the file if it exists')
          .option('--quiet', 'show no progress')
          .addHelpText(
            'after',
            `\nExamples:\n  latchkey ${name}:export > ${name}.csv\n  latchkey ${name}:export --output ${name}.ndjson`,
          ),
      async run(context, { options }) {
        const { exportCollection } = await import('./export-command.ts')
        await exportCollection(context, options)
      },
    }),

    defineCommand<OpenCollection, import('./seed.ts').SeedOptions>({
      name: `${name}:seed`,
      describe: (command) =>
        void command
          .description(`add made-up ${words}, the same for the same seed`)
          .requiredOption('--count <n>', 'how many, up to 1,000,000', parseCount)
          .option('--seed <n>', 'another number makes others', parseCount, 1)
          .option('--force', 'also where NODE_ENV is production')
          .option('--quiet', 'show no progress'),
      async run(context, { options }) {
        const { seedRows } = await import('./seed.ts')
        await seedRows(context, options)
      },
    }),
  ]
}

const importHelp = (name: string) => `
CSV: the first row names the columns; those that are no fields are ignored. NDJSON: one object on each line, with the
same names. Lists and JSON are written as JSON. In CSV, an empty cell is no value.

Each row is checked as the API checks a new one. One that is wrong is skipped and told with its line.
An import that was interrupted goes on where it stopped when the same command is run again. A file that has been
imported is refused, unless --again is given. Standard input cannot be resumed.

Exit codes: 0 everything was imported, 65 rows were skipped, 66 the file cannot be read, 130 interrupted.

Examples:
  latchkey ${name}:import ${name}.csv
  zcat ${name}.ndjson.gz | latchkey ${name}:import - --format ndjson`
