/** The engine executes GraphQL requests for all transports: HTTP, event streams and sockets. */
import type { GraphQLFormattedError } from 'graphql'
import type { Context } from '../schema/elements.ts'
import type { Document } from './documents.ts'

/** As sent by the client, unvalidated. */
export interface GraphQLRequest {
  query?: unknown
  variables?: unknown
  operationName?: unknown
  extensions?: unknown
}

/** An operation of a validated document, with its variables. */
export interface Prepared {
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly document: Document
  readonly operationName: string | undefined
  /** Coerced, with defaults, without undeclared ones. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly cost: number
}

export interface GraphQLResponse {
  /** The whole response as JSON. */
  readonly text: string
  /** False if execution failed as a whole, which no request should be able to cause. */
  readonly hasData: boolean
}

export interface Subscriber {
  /** Each text is a response as JSON. The list is the same for all identical subscriptions. */
  next(texts: readonly string[]): void
  /** Resolves when the client has read enough to be sent more. Undefined if it has. */
  ready?(): Promise<void> | undefined
  /** The source has ended, or failed with `errors`. Not called after `close`. */
  end(errors?: readonly GraphQLFormattedError[]): void
}

export interface LiveSubscription {
  close(): void
  /** Call when the user's rights may have changed. The subscription ends with FORBIDDEN if they no longer suffice. */
  recheck(): Promise<void>
}

export interface Engine {
  /** Throws if its elements do not fit together. Otherwise the first request does it. */
  prepareSchema(): void
  /** Throws RefusedRequest. */
  prepare(request: GraphQLRequest): Prepared
  /** Executes a query or a mutation. Never rejects: errors are in the response. */
  execute(prepared: Prepared, context: Context): Promise<GraphQLResponse>
  /** Throws RefusedRequest if the subscription cannot start. */
  subscribe(prepared: Prepared, context: Context, subscriber: Subscriber): Promise<LiveSubscription>
  /** Open subscriptions, and the sources that they share. */
  counts(): { subscribers: number; sources: number }
  /** For errors of the transports. Counts the same error object only once. */
  countErrors(errors: readonly GraphQLFormattedError[]): void
  /** Ends every subscription. */
  close(): Promise<void>
}
