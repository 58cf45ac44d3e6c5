/**
 * Coerces a JSON value to an input type and stops at the first error. graphql-js continues to the end and prints the
 * whole value for each error, so that a request would cost its size times its number of errors.
 */
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { exactNumbersOf, rememberExactNumbers } from '../../validation/body-validation.ts'
import { findExactInput, isNumeric } from '../schema/exact-input.ts'
import { describeValue } from './error-limits.ts'

export class InvalidInput extends Error {
  readonly path: readonly (string | number)[]
  /** The value for the message; undefined if it would not help. */
  readonly shown: string | undefined

  constructor(reason: string, { path, shown }: { path: readonly (string | number)[]; shown?: string }) {
    super(reason)
    this.path = path
    this.shown = shown
  }
}

/** Limit of items and fields in all variables of a request: about ten milliseconds of work. */
const maxValues = 100_000

/** Nesting limit: recursive input types set none. */
const maxDepth = 100

export interface Coercion {
  /** Throws InvalidInput. */
  coerce(value: unknown, type: GraphQLInputType): unknown
}

/** For the variables of one request. */
export function createCoercion(): Coercion {
  let values = 0
  const path: (string | number)[] = []

  function fail(reason: string, value?: unknown): InvalidInput {
    const shown = value === undefined ? {} : { shown: describeValue(value) }
    return new InvalidInput(reason, { path: [...path], ...shown })
  }

  function coerce(value: unknown, type: GraphQLInputType): unknown {
    if (isNonNullType(type)) {
      if (value === null || value === undefined)
        throw fail(`Expected non-nullable type "${type}" not to be null.`, null)
      return coerce(value, type.ofType)
    }
    if (value === null || value === undefined) return null
    values += 1
    if (values > maxValues) throw fail(`The variables hold more than ${maxValues} values.`)
    if (isListType(type)) return Array.isArray(value) ? coerceItems(value, type.ofType) : [coerce(value, type.ofType)]
    return isInputObjectType(type) ? coerceObject(value, type) : coerceLeaf(value, type)
  }

  function within<Result>(key: string | number, work: () => Result): Result {
    if (path.length >= maxDepth) throw fail(`The value is nested more than ${maxDepth} levels deep.`)
    path.push(key)
    const result = work()
    path.pop()
    return result
  }

  function coerceItems(items: readonly unknown[], type: GraphQLInputType): unknown[] {
    return items.map((item, index) => within(index, () => coerce(item, type)))
  }

  function coerceObject(value: unknown, type: GraphQLInputObjectType): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw fail(`Expected type "${type.name}" to be an object.`, value)
    }
    const given = value as Record<string, unknown>
    const fields = type.getFields()
    requireKnownKeys(given, type)
    const coerced: Record<string, unknown> = Object.create(null)
    const isExact = findExactInput(type) !== undefined
    const literals = isExact && exactNumbersOf(given)
    if (literals) rememberExactNumbers(coerced, literals)
    for (const field of Object.values(fields)) {
      const own = Object.hasOwn(given, field.name) ? given[field.name] : undefined
      if (isExact && typeof own === 'number' && isNumeric(field.type)) coerced[field.name] = own
      else if (own !== undefined) {
        coerced[field.name] = within(field.name, () => coerce(own, field.type))
        continue
      }
      values += 1
      if (own !== undefined) continue
      if (field.defaultValue !== undefined) coerced[field.name] = field.defaultValue
      else if (isNonNullType(field.type)) {
        throw fail(`Field "${field.name}" of required type "${field.type}" was not provided.`, value)
      }
    }
    return coerced
  }

  function requireKnownKeys(given: Record<string, unknown>, type: GraphQLInputObjectType): void {
    const fields = type.getFields()
    const most = Object.keys(fields).length
    let count = 0
    let unknown: string | undefined
    for (const key in given) {
      count += 1
      if (count > most) throw fail(`The object has more fields than type "${type.name}", which has ${most}.`)
      if (!Object.hasOwn(fields, key)) unknown ??= key
    }
    if (unknown !== undefined) throw fail(`Field "${unknown}" is not defined by type "${type.name}".`, given)
  }

  function coerceLeaf(value: unknown, type: GraphQLLeafType): unknown {
    // The scalar's own message would contain the whole value.
    if (typeof value === 'object') throw fail(`${type.name} cannot represent a list or an object.`, value)
    try {
      const read = type.parseValue(value)
      if (read !== undefined) return read
    } catch (error) {
      throw fail(error instanceof Error ? error.message : `Expected type "${type.name}".`, value)
    }
    throw fail(`Expected type "${type.name}".`, value)
  }

  return {
    coerce(value, type) {
      path.length = 0
      return coerce(value, type)
    },
  }
}
