import { coreKeys } from '../config/core-keys.ts'
import { isKey, type KeyTree, leavesOf } from '../config/key.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import type { Feature } from '../platform/feature.ts'
import { Claims, ourselves } from './clashes.ts'

/** The commands that belong to no feature. */
const coreCommands = [
  'start',
  'migrate',
  'new',
  'doctor',
  'graphql:ws',
  'graphql:schema',
  'collections:diff',
  'collections:show',
  'help',
]

/** Throws when two features claim the same name, or one needs a feature that is not there. The later one is blamed. */
export function requireNoClashes(features: readonly Feature[]): void {
  const claims = new Claims()
  for (const claim of [...keyClaims(coreKeys), ...coreCommands.map((name) => `command ${name}`)]) {
    claims.add(ourselves, claim)
  }
  for (const feature of features) for (const claim of claimsOf(feature)) claims.add(feature.name, claim)
  for (const { name, definition } of features) {
    for (const [as, needed] of Object.entries({ ...definition.uses, ...definition.needs }) as [string, Feature][]) {
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
    ...of('job', Object.keys(definition.jobs ?? {})),
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
