/** Runs GraphQL requests: what HTTP, event streams and sockets have in common. */
import type { GraphQLFormattedError, GraphQLSchema } from 'graphql'
import type { Principal } from '../../access/route-guards.ts'
import type { Context } from '../schema/elements.ts'
import type { Document } from './documents.ts'

/** As a client sends it; nothing of it is believed yet. */
export interface GraphQLRequest {
  query?: unknown
  variables?: unknown
  operationName?: unknown
  extensions?: unknown
}

/** One operation of a document that was parsed, measured and validated, with its variables. */
export interface Prepared {
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly document: Document
  readonly operationName: string | undefined
  /** As the types and defaults of the operation make them; what else was sent is left out. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly cost: number
}

export interface Answer {
  /** The whole answer, as JSON. */
  readonly text: string
  /** False where execution broke down as a whole, which nothing that a client sends should bring about. */
  readonly hasData: boolean
}

/** What a subscription tells its subscriber. */
export interface Subscriber {
  /** The JSON of one answer: one text for all who subscribed to the same. */
  next(text: string): void
  /** It has ended by itself; with errors, because it had to. Not called after `close`. */
  end(errors?: readonly GraphQLFormattedError[]): void
}

export interface LiveSubscription {
  close(): void
  /** To be called when the user's rights may have changed. Where they no longer suffice it ends, with FORBIDDEN. */
  recheck(principal: Principal): Promise<void>
}

export interface Engine {
  readonly schema: GraphQLSchema
  /** Throws RefusedRequest. */
  prepare(request: GraphQLRequest): Prepared
  /** A query or a mutation. What goes wrong is in the answer; it never rejects. */
  execute(prepared: Prepared, context: Context): Promise<Answer>
  /** Throws RefusedRequest where it cannot begin. */
  subscribe(prepared: Prepared, context: Context, subscriber: Subscriber): Promise<LiveSubscription>
  /** How many subscriptions are open, and how many of them have a source of their own. */
  counts(): { subscribers: number; sources: number }
  /** For errors that a transport has found by itself. What was counted before counts once. */
  countErrors(errors: readonly GraphQLFormattedError[]): void
  /** Ends every subscription. */
  close(): Promise<void>
}
