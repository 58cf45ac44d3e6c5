/** The GraphQL schema by itself, for whoever only wants to read it. */
import type { GraphQLSchema } from 'graphql'
import type { Config } from '../config/config.ts'
import { postPolicy } from '../features/posts/posts.policy.ts'
import { createPolicies } from '../platform/access/policies.ts'
import { createGuards } from '../platform/graphql/schema/guards.ts'
import { createSchema } from '../platform/graphql/schema/schema.ts'
import { createElements, type ElementParts } from './elements.ts'

export function createBareSchema(config: Config): GraphQLSchema {
  // Elements use their parts when they are executed, which these never are: no database is needed.
  const elements = createElements(config, {} as ElementParts)
  return createSchema(elements, createGuards(createPolicies({ posts: postPolicy })))
}
