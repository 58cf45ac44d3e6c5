import type { Infrastructure } from '../../platform/infrastructure.ts'
import { counterTopic } from './posts.graphql.ts'
import type { PostsConfig } from './posts.keys.ts'
import { createPosts } from './posts.service.ts'
import { createPostStore } from './posts.store.ts'

export function createPostsService(infrastructure: Infrastructure<PostsConfig>) {
  const { config, db, clock, counts, announce, createLimiter } = infrastructure
  return {
    posts: createPosts({
      store: createPostStore({ db, clock, counts }),
      onCounted: (count) => announce(counterTopic, { count }),
    }),
    limiter: createLimiter('posts', config.graphql.rateLimit),
    byteLimiter: createLimiter('post-bytes', config.graphql.byteLimit),
  }
}
