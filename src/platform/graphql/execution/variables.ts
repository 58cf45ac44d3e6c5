/** Coerces the variables of an operation, once for the cost, the access checks and both executors. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { exactNumbersOf } from '../../validation/body-validation.ts'
import { ExactNumber, findExactInput, isNumeric } from '../schema/exact-input.ts'
import { type Coercion, createCoercion, InvalidInput } from './coerce-input.ts'

export interface VariablesOptions {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
  maxProblems: number
}

type Values = Record<string, unknown>

export type ReadVariables = (
  given: Readonly<Values>,
) => { coerced: Values; errors?: never } | { errors: readonly GraphQLError[]; coerced?: never }

interface Declared {
  name: string
  node: VariableDefinitionNode
  type: GraphQLInputType
  /** Used only for numbers of input types with `checksNumbers`. */
  isExact: boolean
}

/**
 * The executors would coerce variables with different messages, and graphql-jit incorrectly, so they receive the values
 * coerced here. Each invalid variable yields one error.
 */
export function createVariableReader({ schema, document, operation, maxProblems }: VariablesOptions): ReadVariables {
  // Lazily: a document may have many operations of which one is used.
  let declared: Declared[] | undefined
  return (given) => {
    declared ??= declare(schema, document, operation)
    const coercion = createCoercion()
    const coerced: Values = {}
    const errors: GraphQLError[] = []
    for (const each of declared) {
      const problem = read(each, { given, coerced, coercion })
      if (problem === undefined) continue
      errors.push(new GraphQLError(`Variable "$${each.name}" ${problem}`, { nodes: each.node }))
      if (errors.length >= maxProblems) break
    }
    return errors.length > 0 ? { errors } : { coerced }
  }
}

function declare(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Declared[] {
  const { variableDefinitions = [] } = operation
  const inexact = variableDefinitions.length > 0 ? findInexact(schema, document) : new Set()
  return variableDefinitions.map((node) => {
    const name = node.variable.name.value
    // Validation ensures an input type.
    const type = typeFromAST(schema, node.type) as GraphQLInputType
    return { name, node, type, isExact: isNumeric(type) && !inexact.has(name) }
  })
}

interface Reading {
  given: Readonly<Values>
  coerced: Values
  coercion: Coercion
}

/** Returns the problem, if any. */
function read({ name, node, type, isExact }: Declared, { given, coerced, coercion }: Reading): string | undefined {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (value === undefined) {
    if (node.defaultValue) coerced[name] = valueFromAST(node.defaultValue, type)
    else if (isNonNullType(type)) return `of required type "${type}" was not provided.`
  } else if (value === null && isNonNullType(type)) {
    return `of non-null type "${type}" must not be null.`
  } else if (isExact && typeof value === 'number') {
    coerced[name] = new ExactNumber(value, exactNumbersOf(given)?.get(name))
  } else {
    try {
      coerced[name] = coercion.coerce(value, type)
    } catch (error) {
      if (error instanceof InvalidInput) return describe(name, error)
      throw error
    }
  }
  return undefined
}

function describe(name: string, { message, path, shown }: InvalidInput): string {
  const what = shown === undefined ? 'an invalid value' : `invalid value ${shown}`
  const keys = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return `got ${what}${keys === '' ? '' : ` at "${name}${keys}"`}; ${message}`
}

/** The variables used anywhere else than as a field of an input type with `checksNumbers`. */
function findInexact(schema: GraphQLSchema, document: DocumentNode): ReadonlySet<string> {
  const found = new Set<string>()
  const types = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(types, {
      VariableDefinition: () => false,
      Variable({ name }, _key, parent) {
        const isField = parent !== undefined && 'kind' in parent && parent.kind === Kind.OBJECT_FIELD
        if (!isField || !findExactInput(types.getParentInputType())) found.add(name.value)
      },
    }),
  )
  return found
}
