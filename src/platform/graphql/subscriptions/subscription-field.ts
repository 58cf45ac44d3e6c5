import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getArgumentValues,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import type { Prepared } from '../execution/engine.types.ts'
import { formatExecutionError } from '../execution/graphql-errors.ts'
import { RefusedRequest } from '../execution/refused-request.ts'
import type { ContextLog, RootElement } from '../schema/elements.ts'

export interface SubscriptionField {
  element: Extract<RootElement, { kind: 'subscription' }>
  args: Record<string, unknown>
}

/** Finds the root field of a subscription and its arguments. Validation ensures that there is exactly one. */
export function getSubscriptionField(
  schema: GraphQLSchema,
  { document, operationName, variables }: Prepared,
  log: ContextLog,
): SubscriptionField {
  const { node } = document.getOperation(operationName)
  const fragments = new Map(
    document.node.definitions
      .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((each) => [each.name.value, each]),
  )
  const field = firstField(node.selectionSet, fragments)
  const definition = field && schema.getSubscriptionType()?.getFields()[field.name.value]
  const element = definition?.extensions.element
  if (!definition || element?.kind !== 'subscription') {
    throw new RefusedRequest('execution', [{ message: 'The subscription names no field' }])
  }
  try {
    return { element, args: getArgumentValues(definition, field, variables) }
  } catch (error) {
    // A null variable for a non-null argument with a default.
    if (!(error instanceof GraphQLError)) throw error
    throw new RefusedRequest('execution', [formatExecutionError(error, log)])
  }
}

function firstField(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FieldNode | undefined {
  for (const each of selections) {
    if (each.kind === Kind.FIELD) return each
    const inner = each.kind === Kind.INLINE_FRAGMENT ? each : fragments.get(each.name.value)
    const field = inner && firstField(inner.selectionSet, fragments)
    if (field) return field
  }
  return undefined
}
