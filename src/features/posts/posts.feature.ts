/** Posts: the specification's reference resource, over REST and GraphQL. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { postKeys } from './posts.keys.ts'
import { postPolicy } from './posts.policy.ts'

export const posts = defineFeature({
  name: 'posts',
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['posts'],
  config: postKeys,

  create: async (infrastructure) => (await import('./posts.create.ts')).createPostsService(infrastructure),

  policies: { posts: postPolicy },
  routes: (service) => async (app) => (await import('./posts.routes.ts')).addPostRoutes(app, service),
  elements: async (service) => (await import('./posts.graphql.ts')).createPostElements(service),
})
