/**
 * The root field of a subscription must not have @skip or @include: the variables would decide whether there is
 * anything to subscribe to. https://spec.graphql.org/draft/#sec-Single-root-field
 */
import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'

export function UnconditionalRootRule(context: ValidationContext): ASTVisitor {
  function check({ selections }: SelectionSetNode, seen: Set<FragmentDefinitionNode>): void {
    for (const each of selections) {
      const conditional = each.directives?.find(({ name: { value } }) => value === 'skip' || value === 'include')
      if (conditional) {
        const message = `The field of a subscription cannot have @${conditional.name.value}`
        context.reportError(new GraphQLError(message, { nodes: conditional }))
      }
      if (each.kind === Kind.INLINE_FRAGMENT) check(each.selectionSet, seen)
      if (each.kind !== Kind.FRAGMENT_SPREAD) continue
      const fragment = context.getFragment(each.name.value)
      if (!fragment || seen.has(fragment)) continue
      check(fragment.selectionSet, seen.add(fragment))
    }
  }

  return {
    OperationDefinition({ operation, selectionSet }) {
      if (operation === 'subscription') check(selectionSet, new Set())
    },
  }
}
