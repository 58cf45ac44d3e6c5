/**
 * What features add to the GraphQL schema: object types, input types, queries, mutations and subscriptions. Each has a
 * name, and says who may use it as a route does.
 */

import type { Requirement as BareRequirement } from '../../access/authorize.ts'
import type { Principal } from '../../access/route-guards.ts'
import type { Unsubscribe } from '../../bus/bus.ts'
import type { Client } from '../../http/client.ts'
import type { AnswerBudget } from '../execution/answer-budget.ts'
import type { Selection } from './selection.ts'

/** What a resolver knows of whoever asks. */
export interface Context {
  readonly principal: Principal | undefined
  readonly client: Client
  /** Of the request: what goes wrong unforeseen is told there and nowhere else. */
  readonly log: ContextLog
  /** Which the operations of a batch share. */
  readonly budget?: AnswerBudget | undefined
}

export interface ContextLog {
  error(details: object, text: string): void
}

/** What a subscription listens with. All of it is released when the subscription ends, whoever ends it. */
export interface SubscriptionContext extends Context {
  /** Calls `listener` with every value published to `topic`. Returns the unsubscribe callback. */
  subscribe(topic: string, listener: (value: unknown) => void): Promise<Unsubscribe>
  /** The values published to `topic`, one after the other; the unsubscribe callback is called when it ends. */
  values<Value>(topic: string): AsyncIterableIterator<Value>
}

type Arguments = Record<string, unknown>

/** A policy's entity is found by the arguments. */
export type FieldRequirement<Args = Arguments> = BareRequirement<(args: Args) => Promise<unknown>>

/** All of a list must hold. */
export type FieldAccess<Args = Arguments> = FieldRequirement<Args> | readonly FieldRequirement<Args>[]

/** A type as the schema language writes it, `[Post!]!`, or with a default. */
export type Argument = string | { type: string; default?: unknown; description?: string }

export interface Field<Source = never> {
  type: string
  description?: string
  args?: Readonly<Record<string, Argument>>
  /** Beside what the element that leads here requires. */
  access?: FieldAccess
  /** Without it, and without `load`, the property of the field's name. */
  resolve?(source: Source, args: never, context: Context): unknown
  /** Returns the field for many objects at once, in their order: a list asks once, not once per row. */
  load?(sources: readonly Source[], context: Context): Promise<readonly unknown[]>
  /** How many items a list has at most, where the arguments tell it. What a document may cost is counted from it. */
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
  /** Its numbers are handed over whatever their size, with how they were written: the resolver checks them. */
  checksNumbers?: boolean
  fields: Readonly<Record<string, Argument>>
}

interface Root<Args> {
  name: string
  type: string
  description?: string
  args?: Readonly<Record<string, Argument>>
  access: FieldAccess<Args>
  size?(args: Args): number
}

/** What else a resolver may want to know. */
export interface Asked {
  /** What a policy was asked about. */
  readonly entity: unknown
  /** Which fields of the answer are asked for. What is read for no other is read for nothing. */
  selection(): Selection
}

/** A callable, or an object type whose fields know by themselves what they are. */
export interface Operation<Args = Arguments> extends Root<Args> {
  resolve?(args: Args, context: Context, asked: Asked): unknown
}

export interface Subscription<Args = Arguments> extends Root<Args> {
  /** Yields what the field is resolved from, until one side ends it. */
  subscribe(args: Args, context: SubscriptionContext): AsyncIterable<unknown>
  /**
   * Values are resolved once for all who asked the same, as for the anonymous. That is so by itself where access is
   * public; elsewhere once for each subscription, unless this says that everybody let in sees the same.
   */
  isShared?: boolean
}

export type Element =
  | ({ kind: 'object' } & ObjectType)
  | ({ kind: 'input' } & InputType)
  | ({ kind: 'query' } & Operation)
  | ({ kind: 'mutation' } & Operation)
  | ({ kind: 'subscription' } & Subscription)

/** A field of Query, Mutation or Subscription. */
export type RootElement = Extract<Element, { kind: 'query' | 'mutation' | 'subscription' }>

// The types of sources and arguments matter where an element is written; assembled, all elements are alike.
export const objectType = <Source>(element: ObjectType<Source>) => ({ kind: 'object', ...element }) as Element
export const inputType = (element: InputType) => ({ kind: 'input', ...element }) as Element
export const query = <Args = Arguments>(element: Operation<Args>) => ({ kind: 'query', ...element }) as Element
export const mutation = <Args = Arguments>(element: Operation<Args>) => ({ kind: 'mutation', ...element }) as Element
export const subscription = <Args = Arguments>(element: Subscription<Args>) =>
  ({ kind: 'subscription', ...element }) as Element
