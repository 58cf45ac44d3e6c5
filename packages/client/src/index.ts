export type { Api, Schemas } from './api.ts'
export type { ChangesOptions, LogEntry, ProductChange } from './changes.ts'
export type {
  CollectionChange,
  CollectionClient,
  CollectionsOf,
  CollectionTypes,
  ListQuery,
  ReadRow,
  RowList,
  RowVersion,
} from './collections.ts'
export type { CollectionCopy, CopyOptions } from './copy.ts'
export {
  CursorExpiredError,
  type GraphQLErrorEntry,
  GraphQLRequestError,
  LatchkeyError,
  SessionEndedError,
} from './errors.ts'
export type { GraphQLDocument, GraphQLVariables } from './graphql.ts'
export { createLatchkey, type Latchkey, type LatchkeyOptions } from './latchkey.ts'
export type { components, operations, paths } from './openapi.ts'
export type {
  MatchOptions,
  NewProduct,
  Product,
  ProductChanges,
  ProductList,
  ProductListMeta,
  ProductQuery,
  ReadProduct,
} from './products.ts'
export type { SessionStatus } from './session.ts'
export type { LoginOutcome, PasskeyOptions, TwoFactorChallenge } from './sign-in.ts'
export { type CookieOptions, cookieStorage } from './storage/cookie.ts'
export { type IndexedDbOptions, indexedDbStorage } from './storage/indexed-db.ts'
export { memoryStorage } from './storage/memory.ts'
export type { EndReason, LatchkeyStorage, SessionEnd, StoredSession, StoredState } from './storage/storage.ts'
export type { SubscribeOptions } from './subscriptions/subscribe.ts'
