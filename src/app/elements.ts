/** All elements of the GraphQL schema. */
import type { Config } from '../config/config.ts'
import { createPostElements } from '../features/posts/posts.graphql.ts'
import type { Posts } from '../features/posts/posts.service.ts'
import { createProductElements } from '../features/products/products.graphql.ts'
import type { Products } from '../features/products/products.service.ts'
import { createUserElements } from '../features/users/users.graphql.ts'
import type { Element } from '../platform/graphql/schema/elements.ts'
import type { Limiter } from '../platform/limiter/limiter.ts'

export interface ElementParts {
  posts: Posts
  products: Products
  /** Of new posts, which anybody may make: how many, and how many bytes. */
  limiter: Limiter
  byteLimiter: Limiter
}

export function createElements(config: Config, { posts, products, limiter, byteLimiter }: ElementParts): Element[] {
  return [
    ...createPostElements({ posts, limiter, byteLimiter }),
    ...createProductElements({ ...config.products, products }),
    ...createUserElements(),
  ]
}
