/** The field that a subscription asks for. */
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

export interface AskedField {
  element: Extract<RootElement, { kind: 'subscription' }>
  args: Record<string, unknown>
}

/** Which element a subscription asks for, and with what. Validation has made sure that it is one. */
export function readAskedField(
  schema: GraphQLSchema,
  { document, operationName, variables }: Prepared,
  log: ContextLog,
): AskedField {
  const { node } = document.operation(operationName)
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
    // A variable that is null where an argument with a default may not be.
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
