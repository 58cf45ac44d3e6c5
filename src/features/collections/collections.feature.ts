/** What all collections share: their GraphQL types, and writes of several collections at once. */
import { registryOf } from '../../collections/service.ts'
import { defineFeature } from '../../platform/feature.ts'

export const collections = defineFeature({
  name: 'collections',
  create: (infrastructure) => ({ registry: registryOf(infrastructure) }),
  elements: async ({ registry }) =>
    registry.size === 0 ? [] : (await import('../../collections/graphql/elements.ts')).createSharedElements(),
})
