/**
 * What a resolver returns, made fit for either executor. Neither is safe with everything that a resolver may return:
 * where a list fails at one item, graphql-js forgets the promises of those before it, and their rejections end the
 * process; where something throws behind a promise, graphql-jit waits for ever.
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
  /** Undefined: the property of the field's name. */
  resolve: Resolver | undefined
}

/** Returns undefined where an executor may read the property by itself. */
export type AdaptResolver = (field: ResolvedField) => Resolver | undefined

/** As graphql-js resolves fields without a resolver, but of a name that is known beforehand. */
export function readProperty(name: string): Resolver {
  return (source, args, context, info) => {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
    const holder = source as Record<string, unknown>
    const property = holder[name]
    return typeof property === 'function' ? property.call(source, args, context, info) : property
  }
}

/** For graphql-js: no list of non-null items completes an item while it may still fail at a later one. */
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
  // An iterator may throw too: now, while nothing has begun.
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
    // This item fails, not the list that it is in.
    return Promise.reject(error)
  }
}

/** Stands for whatever went wrong: the answer is made anew by the interpreter, which tells what it was. */
const failure = new Error('not to be answered by compiled code')

/**
 * For graphql-jit: what throws fails as a whole, and what has sub-fields or items has a resolver, because the compiled
 * code would take the promises and methods of an object for its fields.
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

/** The compiled code calls `then` once, with both callbacks, and has nobody to tell when the first of them throws. */
function settle(promise: PromiseLike<unknown>, complete: (value: unknown) => unknown) {
  return {
    // biome-ignore lint/suspicious/noThenProperty: a promise for graphql-jit, which needs nothing more of it.
    then(onValue: (value: unknown) => void, onError: (error: unknown) => void): void {
      const fail = () => {
        try {
          onError(failure)
        } catch {
          // The operation has failed as a whole by now.
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
