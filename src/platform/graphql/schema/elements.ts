/**
 * The elements that features add to the GraphQL schema: object types, input types, queries, mutations and
 * subscriptions. Like routes, queries, mutations and subscriptions must declare their access.
 */

import type { Requirement as BareRequirement } from '../../access/authorize.ts'
import type { Principal } from '../../access/route-guards.ts'
import type { Unsubscribe } from '../../bus/bus.ts'
import type { Client } from '../../http/client.ts'
import type { ResponseBudget } from '../execution/response-budget.types.ts'
import type { Selection } from './selection.ts'

/** The caller, as resolvers see it. */
export interface Context {
  readonly principal: Principal | undefined
  readonly client: Client
  /** The request's log. Causes of unexpected errors go here, never to the client. */
  readonly log: ContextLog
  /** Shared by the operations of a batch. */
  readonly budget?: ResponseBudget | undefined
}

export interface ContextLog {
  error(details: object, text: string): void
}

/** All listeners are removed when the subscription ends, by either side. */
export interface SubscriptionContext extends Context {
  /** Calls `listener` with every value published to `topic`. Returns the unsubscribe callback. */
  subscribe(topic: string, listener: (value: unknown) => void): Promise<Unsubscribe>
  /** Iterates over the values published to `topic`, and unsubscribes when the iteration ends. */
  values<Value>(topic: string): AsyncIterableIterator<Value>
  /** Aborted when the subscription ends. */
  readonly signal: AbortSignal
  /** The client is told that it has subscribed once this has resolved. Call it before the first `await`. */
  starts(work: Promise<unknown>): void
}

type Arguments = Record<string, unknown>

/** A policy's entity is looked up by the arguments. */
export type FieldRequirement<Args = Arguments> = BareRequirement<(args: Args) => Promise<unknown>>

/** All requirements of a list must be met. */
export type FieldAccess<Args = Arguments> = FieldRequirement<Args> | readonly FieldRequirement<Args>[]

/** A type in the schema definition language, such as `[Post!]!`; an object also sets a default or a description. */
export type Argument = string | { type: string; default?: unknown; description?: string }

export interface Field<Source = never> {
  type: string
  description?: string
  args?: Readonly<Record<string, Argument>>
  /** Checked in addition to the access of the root field. */
  access?: FieldAccess
  /** Without `resolve` and `load`, the source's property of the same name is read. */
  resolve?(source: Source, args: never, context: Context): unknown
  /** Loads the field for many objects at once, in their order: one query for a list, not one per row. */
  load?(sources: readonly Source[], context: Context): Promise<readonly unknown[]>
  /** Upper bound of the list's length, from the arguments. Used for the cost of the operation. */
  size?(args: Arguments): number
}

export interface ObjectType<Source = never> {
  name: string
  description?: string
  fields: Readonly<Record<string, string | Field<Source>>>
}

export interface InputType {
  name: string
  description?: string
  /** Passes numbers of any size to the resolver, with their exact literals: the resolver validates them. */
  checksNumbers?: boolean
  fields: Readonly<Record<string, Argument>>
}

interface RootFieldBase<Args> {
  name: string
  type: string
  description?: string
  args?: Readonly<Record<string, Argument>>
  access: FieldAccess<Args>
  size?(args: Args): number
}

export interface RootFieldInfo {
  /** The entity that the policy was checked with. */
  readonly entity: unknown
  /** The selected fields, for resolvers that load nothing else. */
  selection(): Selection
}

/** A query or a mutation. Without `resolve`, resolves to `{}`. */
export interface RootField<Args = Arguments> extends RootFieldBase<Args> {
  resolve?(args: Args, context: Context, info: RootFieldInfo): unknown
}

export interface Subscription<Args = Arguments> extends RootFieldBase<Args> {
  /** Yields the values of the field, until either side ends the subscription. */
  subscribe(args: Args, context: SubscriptionContext): AsyncIterable<unknown>
  /**
   * Resolves a value once for all identical subscriptions, with an anonymous context, instead of once per subscription.
   * The default for public access; elsewhere set it only if all permitted users see the same values.
   *
   * `lists` is for subscribers that have a place of their own, by the arguments of the field. Each has an iterator, which
   * yields lists of values and waits for its own client alone. A list that several of them yield is resolved once.
   */
  isShared?: boolean | 'lists'
}

export type Element =
  | ({ kind: 'object' } & ObjectType)
  | ({ kind: 'input' } & InputType)
  | ({ kind: 'query' } & RootField)
  | ({ kind: 'mutation' } & RootField)
  | ({ kind: 'subscription' } & Subscription)

/** A field of Query, Mutation or Subscription. */
export type RootElement = Extract<Element, { kind: 'query' | 'mutation' | 'subscription' }>

// Types of sources and arguments only matter where an element is declared; an assembled schema erases them.
export const objectType = <Source>(element: ObjectType<Source>) => ({ kind: 'object', ...element }) as Element
export const inputType = (element: InputType) => ({ kind: 'input', ...element }) as Element
export const query = <Args = Arguments>(element: RootField<Args>) => ({ kind: 'query', ...element }) as Element
export const mutation = <Args = Arguments>(element: RootField<Args>) => ({ kind: 'mutation', ...element }) as Element
export const subscription = <Args = Arguments>(element: Subscription<Args>) =>
  ({ kind: 'subscription', ...element }) as Element
