import { printSchema } from 'graphql'
import { createBareSchema } from '../app/schema.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

export async function printGraphQLSchema(options: GlobalOptions): Promise<void> {
  const { config } = readSettings(options, { forService: false })
  process.stdout.write(`${printSchema(createBareSchema(config))}\n`)
}
