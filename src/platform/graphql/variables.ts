/** The variables of an operation, read by the schema once for all who need them. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'

export interface VariablesOptions {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
  hideSuggestions: boolean
  maxProblems: number
}

export type ReadVariables = (
  given: Readonly<Record<string, unknown>>,
) => { coerced: Record<string, unknown>; errors?: never } | { errors: readonly GraphQLError[]; coerced?: never }

/**
 * Both executors would check variables too, each in its own words, and they disagree about null: a variable that may be
 * null can stand where nothing may be, as long as there is a default. So it is refused here.
 */
export function createVariables({ schema, document, operation, ...options }: VariablesOptions): ReadVariables {
  const definitions = operation.variableDefinitions ?? []
  // When it is needed: a document may hold many operations of which one is used.
  let neverNull: VariableDefinitionNode[] | undefined
  return (given) => {
    neverNull ??= findNeverNull(schema, document, operation)
    const read = getVariableValues(schema, definitions, given, {
      hideSuggestions: options.hideSuggestions,
      maxErrors: options.maxProblems,
    })
    if (read.errors) return read
    const errors = neverNull
      .filter(({ variable }) => read.coerced[variable.name.value] === null)
      .map((node) => new GraphQLError(`Variable "$${node.variable.name.value}" must not be null.`, { nodes: node }))
    return errors.length > 0 ? { errors } : read
  }
}

/** Of the variables that may be null by their own type, those that stand where nothing may be. */
function findNeverNull(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  operation: OperationDefinitionNode,
): VariableDefinitionNode[] {
  const nullable = (operation.variableDefinitions ?? []).filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE)
  if (nullable.length === 0) return []
  const found = new Set<string>()
  const types = new TypeInfo(schema)
  for (const part of definitions) {
    if (part !== operation && part.kind !== Kind.FRAGMENT_DEFINITION) continue
    visit(
      part,
      visitWithTypeInfo(types, {
        VariableDefinition: () => false,
        Variable({ name }) {
          if (isNonNullType(types.getInputType())) found.add(name.value)
        },
      }),
    )
  }
  return nullable.filter(({ variable }) => found.has(variable.name.value))
}
