/** `latchkey/graphql`: for writing elements of the GraphQL schema. */
export {
  type Context,
  type Element,
  inputType,
  mutation,
  objectType,
  query,
  type SubscriptionContext,
  subscription,
} from '../platform/graphql/schema/elements.ts'
export type { Selection } from '../platform/graphql/schema/selection.ts'
