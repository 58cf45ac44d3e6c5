/** Joins what the features declare statically, before any of them is created. */
import { join } from 'node:path'
import { collectionFolders } from '../collections/collection.ts'
import { hasMigrations, readSnapshot } from '../collections/schema/snapshot.ts'
import type { ConfigPart, CoreConfig } from '../config/config.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import type { RoleDefinitions } from '../features/users/shipped-roles.ts'
import { users } from '../features/users/users.feature.ts'
import { withAddedRoles } from '../features/users/users.keys.ts'
import type { Expiring } from '../platform/database/cleanup.ts'
import type { DeclaredSchema, MigrationFolder } from '../platform/database/migrations.ts'
import type { Feature } from '../platform/feature.ts'
import { ownFeatures } from './features.ts'

/** For tables that belong to no single feature. */
const platformMigrations = [
  { path: join(import.meta.dirname, 'migrations') },
  { path: join(import.meta.dirname, '..', 'collections', 'migrations') },
  { path: join(import.meta.dirname, '..', 'platform', 'audit', 'migrations') },
  { path: join(import.meta.dirname, '..', 'platform', 'changes', 'migrations') },
  { path: join(import.meta.dirname, '..', 'platform', 'jobs', 'migrations') },
  { path: join(import.meta.dirname, '..', 'platform', 'mail', 'migrations') },
]

const platformTables: readonly Expiring[] = [
  { table: 'service_nodes', key: 'id', isPresence: true },
  { table: 'jobs', key: 'name' },
  { table: 'collection_requests', key: 'id' },
  { table: 'queued_mails', key: 'id' },
]

export interface Declared extends DeclaredSchema {
  auditEvents: Readonly<Record<string, string>>
  /** Their names. */
  jobs: readonly string[]
}

export function declaredBy(features: readonly Feature[]): Declared {
  const definitions = features.map(({ definition }) => definition)
  const expiring = [...definitions.flatMap((definition) => definition.expiringTables ?? []), ...platformTables]
  return {
    migrations: [...platformMigrations, ...features.flatMap(migrationsOf), ...migrationsOfCollections(features)],
    countedLists: ['audit', ...definitions.flatMap(({ countedLists = [] }) => countedLists)],
    expiringTables: [
      'used_once',
      // Made anew at the next start.
      'change_consumers',
      ...expiring.map(({ table }) => table),
    ],
    presenceTables: expiring.filter(({ isPresence }) => isPresence).map(({ table }) => table),
    jobs: definitions.flatMap(({ jobs = {} }) => Object.keys(jobs)),
    auditEvents: Object.assign({}, ...definitions.map(({ auditEvents = {} }) => auditEvents)),
  }
}

function migrationsOf(feature: Feature): MigrationFolder[] {
  const { migrations } = feature.definition
  if (migrations === undefined) return []
  return [{ path: migrations, feature: feature.name, ...(!isOwn(feature) && { space: feature.name }) }]
}

/** Collections that are declared next to each other share their migrations. */
function migrationsOfCollections(features: readonly Feature[]): MigrationFolder[] {
  return collectionFolders(features)
    .filter(({ path }) => hasMigrations(path))
    .map((folder) => ({
      path: folder.path,
      space: readSnapshot(folder).space,
      feature: folder.collections[0]?.name ?? '',
    }))
}

/** Tables whose expired rows are deleted in the background: those of the features and of the platform. */
export function expiringTables(features: readonly Feature[], { audit }: Pick<CoreConfig, 'audit'>): Expiring[] {
  return [
    ...features.flatMap(({ definition }) => definition.expiringTables ?? []),
    ...platformTables,
    { table: 'used_once', key: 'id' },
    ...(audit.retentionDays > 0 ? [{ table: 'audit', key: 'id', keptSeconds: audit.retentionDays * 86_400 }] : []),
  ]
}

/** Disabled features keep their keys, because the files in config/ name them, but nothing is required of the values. */
export function configParts(features: readonly Feature[]): ConfigPart[] {
  const roles = rolesOf(features)
  return features.map(({ name, definition }) => ({
    keys: name === users.name ? withAddedRoles(roles) : definition.config,
    check: (config, context) =>
      config.features.disabled.includes(name) ? [] : (definition.checkConfig?.(config, context) ?? []),
  }))
}

/** If several features add the same role, it has the permissions of all. */
function rolesOf(features: readonly Feature[]): RoleDefinitions {
  const roles = new Map<string, string[]>()
  for (const { name, definition } of features) {
    for (const [role, permissions] of Object.entries((definition.roles ?? {}) as Record<string, unknown>)) {
      // A single text would be taken apart, and `*` is everything.
      if (!Array.isArray(permissions) || !permissions.every((each) => typeof each === 'string' && each !== '')) {
        throw new FatalError(
          `feature ${name}: the role "${role}" must have a list of permissions`,
          exitCodes.configuration,
        )
      }
      roles.set(role, [...(roles.get(role) ?? []), ...permissions])
    }
  }
  return Object.fromEntries([...roles].map(([role, permissions]) => [role, { permissions, inherits: [] }]))
}

const isOwn = (feature: Feature) => (ownFeatures as readonly Feature[]).includes(feature)
