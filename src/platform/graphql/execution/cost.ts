/** Upper bound of an operation's cost: one per field of every object that it can return. */
import {
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'

export interface CostOptions {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Coerced. */
  variables: Readonly<Record<string, unknown>>
}

/** Follows every fragment spread, so the document must be valid and within the document limits. */
export function costOf({ schema, operation, fragments, variables }: CostOptions): number {
  const root = schema.getRootType(operation.operation)
  return root ? costOfSelection(root, operation.selectionSet) : 0

  function costOfSelection(type: GraphQLObjectType, { selections }: SelectionSetNode): number {
    let cost = 0
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value)
        if (fragment) cost += costOfSelection(type, fragment.selectionSet)
        continue
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        cost += costOfSelection(type, selection.selectionSet)
        continue
      }
      cost += 1
      const field = type.getFields()[selection.name.value]
      const inner = field && getNamedType(field.type)
      if (!selection.selectionSet || !isObjectType(inner)) continue
      cost += sizeOf() * costOfSelection(inner, selection.selectionSet)

      function sizeOf(): number {
        if (!field?.extensions.size || selection.kind !== Kind.FIELD) return 1
        try {
          return field.extensions.size(getArgumentValues(field, selection, variables))
        } catch {
          // A null variable for a non-null argument: the field fails and returns no objects.
          return 1
        }
      }
    }
    return cost
  }
}
