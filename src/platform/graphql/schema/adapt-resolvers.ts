/**
 * Wraps resolvers so that neither executor mishandles what they return. When a list fails at one item, graphql-js drops
 * the promises of the items before it, and their unhandled rejections end the process. When something throws after a
 * promise, graphql-jit never settles.
 */
import {
  type GraphQLFieldResolver,
  type GraphQLList,
  type GraphQLOutputType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql'
import type { Context } from './elements.ts'

export type Resolver = GraphQLFieldResolver<unknown, Context>

export interface ResolvedField {
  name: string
  type: GraphQLOutputType
  /** Without it, the source's property of the same name is read. */
  resolve: Resolver | undefined
}

/** Returns undefined if the executor may read the property itself. */
export type AdaptResolver = (field: ResolvedField) => Resolver | undefined

/** The default resolver of graphql-js, for a name known in advance. */
export function readProperty(name: string): Resolver {
  return (source, args, context, info) => {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
    const holder = source as Record<string, unknown>
    const property = holder[name]
    return typeof property === 'function' ? property.call(source, args, context, info) : property
  }
}

/** For graphql-js: no item of a list of non-null items is completed while a later one may still fail. */
export const adaptForInterpreter: AdaptResolver = ({ name, type, resolve }) => {
  const list = getNullableType(type)
  if (!isListType(list)) return resolve
  const base = resolve ?? readProperty(name)
  return (source, args, context, info) => {
    const value = base(source, args, context, info)
    return isThenable(value) ? value.then((settled) => deferItems(settled, list)) : deferItems(value, list)
  }
}

function deferItems(value: unknown, list: GraphQLList<GraphQLOutputType>): unknown {
  if (!isIterableObject(value)) return value
  const inner = getNullableType(list.ofType)
  // An iterator may throw: drain it before any item is completed.
  const items: unknown[] = Array.isArray(value) ? value : [...value]
  const deferred = isListType(inner) ? items.map((item) => deferInner(item, inner)) : items
  const cannotFail = !isNonNullType(list.ofType) || (isLeafType(inner) && !deferred.some(isThenable))
  return cannotFail ? deferred : Array.from(deferred, (item) => Promise.resolve(item))
}

function deferInner(item: unknown, list: GraphQLList<GraphQLOutputType>): unknown {
  if (isThenable(item)) return item.then((settled) => deferItems(settled, list))
  try {
    return deferItems(item, list)
  } catch (error) {
    // Fails this item, not the enclosing list.
    return Promise.reject(error)
  }
}

/** Replaces any error: the operation is executed again by the interpreter, which reports the real one. */
const failure = new Error('compiled execution failed')

/**
 * For graphql-jit: any error fails the whole operation, and every object and list field gets a resolver, because
 * compiled code would treat promises and methods of the source as field values.
 */
export const adaptForCompiler: AdaptResolver = ({ name, type, resolve }) => {
  const inner = getNullableType(type)
  if (!resolve && isLeafType(inner)) return undefined
  const base = resolve ?? readProperty(name)
  const list = isListType(inner) ? inner : undefined
  const complete = (value: unknown) => (list ? settleItems(value, list) : value)
  return (source, args, context, info) => {
    try {
      const value = base(source, args, context, info)
      return isThenable(value) ? settle(value, complete) : complete(value)
    } catch {
      throw failure
    }
  }
}

function settleItems(value: unknown, list: GraphQLList<GraphQLOutputType>): unknown {
  if (!isIterableObject(value)) return value
  const inner = getNullableType(list.ofType)
  const nested = isListType(inner) ? inner : undefined
  const complete = (item: unknown) => (nested ? settleItems(item, nested) : item)
  const items: unknown[] = Array.isArray(value) ? value : [...value]
  if (!nested && !items.some(isThenable)) return items
  return items.map((item) => (isThenable(item) ? settle(item, complete) : complete(item)))
}

/** Compiled code calls `then` once, with both callbacks, and does not catch what the first one throws. */
function settle(promise: PromiseLike<unknown>, complete: (value: unknown) => unknown) {
  return {
    // biome-ignore lint/suspicious/noThenProperty: graphql-jit needs no more of a promise than `then`.
    then(onValue: (value: unknown) => void, onError: (error: unknown) => void): void {
      const fail = () => {
        try {
          onError(failure)
        } catch {
          // The whole operation has already failed.
        }
      }
      Promise.resolve(promise).then((value) => {
        try {
          onValue(complete(value))
        } catch {
          fail()
        }
      }, fail)
    },
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}

function isIterableObject(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as Iterable<unknown>)[Symbol.iterator] === 'function'
  )
}
