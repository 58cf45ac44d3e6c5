import { withOwnFeatures } from '../app/features.ts'
import { collectionFolders, requireTargets } from '../collections/collection.ts'
import { requireCollection, showCollection } from '../features/collections/collections.show.ts'
import type { Feature } from '../platform/feature.ts'

export function collectionsShow(extensions: readonly Feature[], name: string | undefined): void {
  const features = withOwnFeatures(extensions)
  requireTargets(features)
  const all = collectionFolders(features).flatMap(({ collections }) => collections)
  const shown = name === undefined ? all : [requireCollection(all, name)]
  process.stdout.write(shown.length === 0 ? 'no collections are declared\n' : shown.map(showCollection).join('\n'))
}
