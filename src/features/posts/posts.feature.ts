/** Posts: the reference resource of the specification, over REST and GraphQL. */
import { join } from 'node:path'
import { key } from '../../config/key.ts'
import { rateLimit } from '../../config/readers.ts'
import { defineFeature } from '../../platform/feature.ts'
import { counterTopic, createPostElements } from './posts.graphql.ts'
import { postPolicy } from './posts.policy.ts'
import { addPostRoutes } from './posts.routes.ts'
import { createPosts } from './posts.service.ts'
import { createPostStore } from './posts.store.ts'

export const posts = defineFeature({
  name: 'posts',
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['posts'],
  config: {
    graphql: {
      rateLimit: key('graphql.rate_limit.create_post', rateLimit, { requests: 600, seconds: 60 }, 'RATE_LIMIT_POSTS'),
      byteLimit: key(
        'graphql.rate_limit.create_post_bytes',
        rateLimit,
        { requests: 5_242_880, seconds: 60 },
        'RATE_LIMIT_POST_BYTES',
      ),
    },
  },

  create: ({ config, db, clock, counts, announce, createLimiter }) => ({
    posts: createPosts({
      store: createPostStore({ db, clock, counts }),
      onCounted: (count) => announce(counterTopic, { count }),
    }),
    limiter: createLimiter('posts', config.graphql.rateLimit),
    byteLimiter: createLimiter('post-bytes', config.graphql.byteLimit),
  }),

  policies: { posts: postPolicy },
  routes: (service) => (app) => addPostRoutes(app, service),
  elements: (service) => createPostElements(service),
})
