/** The products:* commands: their names, options and help. */
import { defineCommand } from '../../../platform/command-line/command.ts'
import { formatOption, parseCount, parseDelimiter } from '../../../platform/command-line/file-options.ts'
import type { ProductsService } from '../products.create.ts'
import { readColumns, requiredColumns } from '../transfer/columns.ts'
import type { ExportOptions } from './products-export.ts'
import type { ImportOptions } from './products-import.ts'
import type { SeedOptions } from './products-seed.ts'

const optionalColumns = readColumns.filter((name) => !requiredColumns.includes(name))

const importHelp = `
CSV: the first row names the columns. ${listOf(requiredColumns)} are needed; ${listOf(optionalColumns)} may be there;
others are ignored. NDJSON: one object on each line, with the same names.

Each row is checked as the API checks a new product. One that is wrong is skipped and told with its line.
An import that was interrupted goes on where it stopped when the same command is run again. A file that has been
imported is refused, unless --again is given. Standard input cannot be resumed.

Exit codes: 0 everything was imported, 65 rows were skipped, 66 the file cannot be read, 130 interrupted.

Examples:
  latchkey products:import products.csv
  latchkey products:import --strict --delimiter ';' products.csv
  zcat products.ndjson.gz | latchkey products:import - --format ndjson`

const exportHelp = `
Examples:
  latchkey products:export > products.csv
  latchkey products:export --output products.ndjson`

export const productCommands = [
  defineCommand<ProductsService, ImportOptions>({
    name: 'products:import',
    describe: (command) =>
      void command
        .description('add the products of a CSV or NDJSON file')
        .argument('<file>', 'the file; - is standard input')
        .addOption(formatOption('what the file is; by its ending .csv, .ndjson or .jsonl otherwise'))
        .option('--delimiter <character>', 'what separates the fields of a CSV row; \\t is a tab', parseDelimiter, ',')
        .option('--exact', "take cells of CSV as they are, also an apostrophe in front of a formula: '=1+1")
        .option('--strict', 'check the whole file first, and import nothing if any row is wrong')
        .option('--again', 'import a file that has been imported before once more')
        .option('--max-errors <n>', 'show so many of the rows that are wrong', parseCount, 20)
        .option('--quiet', 'show no progress')
        .addHelpText('after', importHelp),
    async run(context, { arguments: [file], options }) {
      const { importProducts } = await import('./products-import.ts')
      await importProducts(context, String(file), options)
    },
  }),

  defineCommand<ProductsService, ExportOptions>({
    name: 'products:export',
    describe: (command) =>
      void command
        .description('write all products that are not deleted, by id')
        .addOption(formatOption("what to write; by the output's ending otherwise, and csv without one"))
        .option('--output <file>', 'write to this file instead of standard output')
        .option('--exact', 'write cells of CSV as they are, also those that a spreadsheet would take for formulas')
        .option('--force', 'replace the file if it exists')
        .option('--quiet', 'show no progress')
        .addHelpText('after', exportHelp),
    async run(context, { options }) {
      const { exportProducts } = await import('./products-export.ts')
      await exportProducts(context, options)
    },
  }),

  defineCommand<ProductsService, SeedOptions>({
    name: 'products:seed',
    describe: (command) =>
      void command
        .description('add made-up products, the same for the same seed')
        .requiredOption('--count <n>', 'how many, up to 10,000,000', parseCount)
        .option('--seed <n>', 'another number makes other products', parseCount, 1)
        .option('--force', 'also where NODE_ENV is production')
        .option('--quiet', 'show no progress'),
    async run(context, { options }) {
      const { seedProducts } = await import('./products-seed.ts')
      await seedProducts(context, options)
    },
  }),
]

/** `a, b and c` */
function listOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
