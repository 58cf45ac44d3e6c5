import { printSchema } from 'graphql'
import { createBareSchema } from '../app/bare-schema.ts'
import type { Settings } from './settings.ts'

export async function printGraphQLSchema(settings: Settings): Promise<void> {
  process.stdout.write(`${printSchema(await createBareSchema(settings))}\n`)
}
