/** What an operation may cost: one for each field of each object that it can lead to. */
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
  /** As they were read by the schema. */
  variables: Readonly<Record<string, unknown>>
}

/** Of a document that is valid, and small enough that its fragments can be followed. */
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
          // A variable that is null where none may be: the field fails, and leads to nothing.
          return 1
        }
      }
    }
    return cost
  }
}
