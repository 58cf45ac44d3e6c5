/** What all collections share: their GraphQL types, writes of several collections at once, and the page that documents them. */
import { registryOf } from '../../collections/service.ts'
import { defineCommand } from '../../platform/command-line/command.ts'
import { defineFeature } from '../../platform/feature.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'

export type CollectionsService = ReturnType<typeof createCollectionsService>

function createCollectionsService(infrastructure: Infrastructure) {
  return {
    registry: registryOf(infrastructure),
    db: infrastructure.db,
    publicUrl: infrastructure.config.server.publicUrl,
  }
}

const path = '/console/collections'

export const collections = defineFeature({
  name: 'collections',
  create: createCollectionsService,
  elements: async ({ registry }) =>
    registry.size === 0 ? [] : (await import('../../collections/graphql/elements.ts')).createSharedElements(),
  pages: ({ registry, db, publicUrl }) => ({
    navigation:
      registry.size === 0
        ? []
        : [{ path, name: 'Collections', icon: 'page', permission: 'collections.view', order: 39 }],
    routes: (kit) => async (app) => {
      const { addCollectionsPages } = await import('./collections.pages.ts')
      addCollectionsPages(app, { ...kit, registry, db, publicUrl, path })
    },
  }),
  commands: [
    defineCommand<CollectionsService>({
      name: 'collections:show',
      describe: (command) =>
        void command
          .description('show the collections with their fields, rules and indexes')
          .argument('[name]', 'of one collection; all by default'),
      async run({ open }, { arguments: [name] }) {
        const [{ requireCollection, showCollection }, { service, close }] = await Promise.all([
          import('./collections.show.ts'),
          open(),
        ])
        try {
          const all = [...service.registry.keys()]
          const shown = name === undefined ? all : [requireCollection(all, String(name))]
          process.stdout.write(
            shown.length === 0 ? 'no collections are declared\n' : shown.map(showCollection).join('\n'),
          )
        } finally {
          await close()
        }
      },
    }),
  ],
})
