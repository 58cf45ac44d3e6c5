import { coreKeys } from '../config/core-keys.ts'
import { leavesOf } from '../config/key.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import type { Feature } from '../platform/feature.ts'

/** Throws when two features claim the same name, or one needs a feature that is not there. The later one is blamed. */
export function requireNoClashes(features: readonly Feature[]): void {
  const taken = new Map<string, string>(leavesOf(coreKeys).map(({ path }) => [`configuration key ${path}`, 'latchkey']))
  for (const feature of features) {
    for (const claim of claimsOf(feature)) {
      const owner = taken.get(claim)
      if (owner !== undefined) {
        throw new FatalError(`feature ${feature.name}: the ${claim} is taken by ${owner}`, exitCodes.configuration)
      }
      taken.set(claim, feature.name)
    }
  }
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
    ...of(
      'configuration key',
      leavesOf(definition.config ?? {}).map(({ path }) => path),
    ),
  ]
}
