/** The entries of a collection in the change log, which its triggers write. */
import type { ChangeTopic } from '../../platform/changes/change.ts'
import { system } from '../actor.ts'
import { resourceOf } from '../resource.ts'
import { type CollectionService, versionOf } from '../service.ts'

export function collectionTopic({ collection, toRow }: CollectionService, isSameForAll: boolean): ChangeTopic {
  return {
    // Webhooks get every entry, whoever may read the row.
    ...(!isSameForAll && { permissions: ['*'] }),
    topic: collection.name,
    types: ['created', 'updated', 'deleted', 'restored'].map((type) => `${collection.singular}.${type}`),
    present: (stored) =>
      resourceOf({ of: collection, row: toRow(JSON.parse(stored) as Record<string, unknown>, system) }),
    versionOf: (type, data) => versionOf(type, { data }),
  }
}
