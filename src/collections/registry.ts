import type { Infrastructure } from '../platform/infrastructure.ts'
import type { Described } from './declare/describe.ts'
import type { CollectionService, Registry } from './service.ts'

const registries = new WeakMap<object, Registry>()

export function registryOf({ db }: Pick<Infrastructure, 'db'>): Registry {
  const registry = registries.get(db) ?? new Map<Described, CollectionService>()
  registries.set(db, registry)
  return registry
}
