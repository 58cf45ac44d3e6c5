/** Commands that features add to the command line. */
import type { Command } from 'commander'
import type { CoreConfig } from '../../config/config.ts'
import type { Infrastructure } from '../infrastructure.ts'

/** What a command works with. Nothing is opened before it asks. */
export interface CommandContext<Service> {
  /** Also where no database can be reached. */
  config: CoreConfig
  /** Opens the database, brought to this version's schema, and makes the feature on it. */
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
  /** Import what it needs inside: the command line reads every feature before it knows which command is called. */
  run(context: CommandContext<Service>, given: Given<never>): Promise<void>
}

/** Writes a command with the type of its options. */
export function defineCommand<Service, Options = object>(command: {
  name: string
  describe(command: Command): void
  run(context: CommandContext<Service>, given: Given<Options>): Promise<void>
}): FeatureCommand<Service> {
  return command
}
