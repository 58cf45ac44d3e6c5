/** Commands that features add to the command line. */
import type { Command } from 'commander'
import type { CoreConfig } from '../../config/config.ts'
import type { DeclaredSchema } from '../database/migrations.ts'
import type { Infrastructure } from '../infrastructure.ts'

export interface CommandContext<Service> {
  /** Available without a database. */
  config: CoreConfig
  /** What the service and all features declare about the database. Available without one. */
  schema: DeclaredSchema
  /** Opens and migrates the database, and creates the feature. */
  open(): Promise<Opened<Service>>
}

export interface Opened<Service> {
  service: Service
  infrastructure: Infrastructure
  close(): Promise<void>
}

export interface Given<Options = object> {
  arguments: readonly string[]
  options: Options
}

export interface FeatureCommand<in Service = never> {
  /** Such as `orders:cancel-stale`. */
  name: string
  /** Adds the description, arguments, options and help. */
  describe(command: Command): void
  /** Import dependencies inside of it, because the command line loads every feature, whichever command is run. */
  run(context: CommandContext<Service>, given: Given<never>): Promise<void>
}

/** Infers the type of the options. */
export function defineCommand<Service, Options = object>(command: {
  name: string
  describe(command: Command): void
  run(context: CommandContext<Service>, given: Given<Options>): Promise<void>
}): FeatureCommand<Service> {
  return command
}
