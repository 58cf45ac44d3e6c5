/** The variables of an operation, read by the schema once for all who need them. */
import {
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql'
import { type Coercion, createCoercion, InvalidInput } from './coerce-input.ts'

export interface VariablesOptions {
  schema: GraphQLSchema
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
}

/**
 * Both executors would coerce variables too, each in its own words, and graphql-jit wrongly: they are handed what this
 * returns. A wrong variable is one error.
 */
export function createVariables({ schema, operation, maxProblems }: VariablesOptions): ReadVariables {
  // When it is needed: a document may hold many operations of which one is used.
  let declared: Declared[] | undefined
  return (given) => {
    declared ??= declare(schema, operation)
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

function declare(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): Declared[] {
  return variableDefinitions.map((node) => ({
    name: node.variable.name.value,
    node,
    // Validation has made sure that it is one that can be given.
    type: typeFromAST(schema, node.type) as GraphQLInputType,
  }))
}

interface Reading {
  given: Readonly<Values>
  coerced: Values
  coercion: Coercion
}

/** Returns what is wrong with it. */
function read({ name, node, type }: Declared, { given, coerced, coercion }: Reading): string | undefined {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (value === undefined) {
    if (node.defaultValue) coerced[name] = valueFromAST(node.defaultValue, type)
    else if (isNonNullType(type)) return `of required type "${type}" was not provided.`
  } else if (value === null && isNonNullType(type)) {
    return `of non-null type "${type}" must not be null.`
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
