/** The entries of a collection in the change log, which its triggers write. */
import type { ChangeTopic } from '../../platform/changes/change.ts'
import { system } from '../actor.ts'
import { resourceOf } from '../resource.ts'
import { type CollectionService, versionOf } from '../service.ts'
import { resetType } from './view.ts'

export function collectionTopic({ collection, toRow }: CollectionService, isSameForAll: boolean): ChangeTopic {
  return {
    // Webhooks get every entry, whoever may read the row.
    ...(!isSameForAll && { permissions: ['*'] }),
    topic: collection.name,
    types: [
      ...['created', 'updated', 'deleted', 'restored'].map((type) => `${collection.singular}.${type}`),
      resetType(collection),
    ],
    present(stored) {
      const row = JSON.parse(stored) as Record<string, unknown> | null
      return row && resourceOf({ of: collection, row: toRow(row, system) })
    },
    versionOf: (type, data) => (type === resetType(collection) ? undefined : versionOf(type, { data })),
  }
}
