/** What the features declare before any of them is made: it is checked for clashes, and joined. */
import { join } from 'node:path'
import type { ConfigPart, CoreConfig } from '../config/config.ts'
import { coreKeys } from '../config/core-keys.ts'
import { isKey, type KeyTree, leavesOf } from '../config/key.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import type { Expiring } from '../platform/database/cleanup.ts'
import type { MigrationFolder } from '../platform/database/migrations.ts'
import type { Feature } from '../platform/feature.ts'
import { Claims, ourselves } from './clashes.ts'
import { ownFeatures } from './features.ts'

/** For tables that no single feature has. */
const platformMigrations = [
  { path: join(import.meta.dirname, 'migrations') },
  { path: join(import.meta.dirname, '..', 'platform', 'audit', 'migrations') },
]

export interface Declared {
  migrations: readonly MigrationFolder[]
  countedLists: readonly string[]
  auditEvents: Readonly<Record<string, string>>
}

export function declaredBy(features: readonly Feature[]): Declared {
  requireNoClashes(features)
  const definitions = features.map(({ definition }) => definition)
  return {
    migrations: [...platformMigrations, ...features.flatMap(migrationsOf)],
    countedLists: ['audit', ...definitions.flatMap(({ countedLists = [] }) => countedLists)],
    auditEvents: Object.assign({}, ...definitions.map(({ auditEvents = {} }) => auditEvents)),
  }
}

function migrationsOf(feature: Feature): MigrationFolder[] {
  const { migrations } = feature.definition
  if (migrations === undefined) return []
  return [{ path: migrations, feature: feature.name, ...(!isOwn(feature) && { space: feature.name }) }]
}

/** The tables whose rows end by themselves, with those of the platform. */
export function expiringTables(features: readonly Feature[], { audit }: Pick<CoreConfig, 'audit'>): Expiring[] {
  return [
    ...features.flatMap(({ definition }) => definition.expiringTables ?? []),
    { table: 'used_once', key: 'id' },
    ...(audit.retentionDays > 0 ? [{ table: 'audit', key: 'id', keptSeconds: audit.retentionDays * 86_400 }] : []),
  ]
}

export function configParts(features: readonly Feature[]): ConfigPart[] {
  return features.map(({ definition }) => ({ keys: definition.config, check: definition.checkConfig }))
}

/** Those of the command line that no feature has. */
const coreCommands = ['start', 'migrate', 'new', 'graphql:ws', 'graphql:schema', 'help']

const isOwn = (feature: Feature) => (ownFeatures as readonly Feature[]).includes(feature)

/** What two features both claim stops the start, by the name of the one that comes later. */
export function requireNoClashes(features: readonly Feature[]): void {
  const claims = new Claims()
  for (const claim of [...keyClaims(coreKeys), ...coreCommands.map((name) => `command ${name}`)]) {
    claims.add(ourselves, claim)
  }
  for (const feature of features) for (const claim of claimsOf(feature)) claims.add(feature.name, claim)
  for (const { name, definition } of features) {
    for (const [as, needed] of Object.entries(definition.needs ?? {}) as [string, Feature][]) {
      if (!features.includes(needed)) {
        throw new FatalError(`feature ${name}: it needs ${as}, which is no feature here`, exitCodes.configuration)
      }
    }
  }
}

function claimsOf({ name, definition }: Feature): string[] {
  const of = (kind: string, names: readonly string[]) => names.map((each) => `${kind} ${each}`)
  return [
    `name ${name}`,
    ...of('policy', Object.keys(definition.policies ?? {})),
    ...of('audit event', Object.keys(definition.auditEvents ?? {})),
    ...of(
      'event',
      (definition.events ?? []).map((event: { name: string }) => event.name),
    ),
    ...of('counted list', definition.countedLists ?? []),
    ...of(
      'command',
      (definition.commands ?? []).map((command: { name: string }) => command.name),
    ),
    ...keyClaims(definition.config ?? {}),
  ]
}

function keyClaims(keys: KeyTree): string[] {
  return leavesOf(keys).flatMap((leaf) => [
    `configuration key ${leaf.path}`,
    ...(isKey(leaf) && leaf.variable !== undefined ? [`environment variable ${leaf.variable}`] : []),
  ])
}
