import type { CoreConfig } from '../../config/config.ts'
import { key, type ValuesOf } from '../../config/key.ts'
import { rateLimit } from '../../config/readers.ts'

export const postKeys = {
  graphql: {
    rateLimit: key('graphql.rate_limit.create_post', rateLimit, { requests: 600, seconds: 60 }, 'RATE_LIMIT_POSTS'),
    byteLimit: key(
      'graphql.rate_limit.create_post_bytes',
      rateLimit,
      { requests: 5_242_880, seconds: 60 },
      'RATE_LIMIT_POST_BYTES',
    ),
  },
}

export type PostsConfig = CoreConfig & ValuesOf<typeof postKeys>
