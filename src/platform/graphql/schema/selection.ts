/** The fields selected below a field, for resolvers that load nothing else. */
import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

export interface Selection {
  readonly fields: ReadonlyMap<string, SelectedField>
}

export interface SelectedField {
  /** Its response names: the aliases, or the field's own name. */
  readonly names: readonly string[]
  /** Undefined for leaf fields. */
  readonly selection: Selection | undefined
}

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues'>

// Safe as a cache key: compiled operations reuse their nodes and have no @skip or @include; the interpreter creates new
// lists for each execution.
const known = new WeakMap<readonly FieldNode[], Selection>()

export function selectionOf(info: Info): Selection {
  let selection = known.get(info.fieldNodes)
  if (!selection) {
    selection = select(info.fieldNodes, info)
    known.set(info.fieldNodes, selection)
  }
  return selection
}

function select(nodes: readonly FieldNode[], info: Info): Selection {
  const byName = new Map<string, { names: Set<string>; nodes: FieldNode[] }>()
  const spread = new Set<string>()
  for (const { selectionSet } of nodes) if (selectionSet) collect(selectionSet)

  function collect({ selections }: SelectionSetNode): void {
    for (const each of selections) {
      if (!isIncluded(each, info)) continue
      if (each.kind === Kind.INLINE_FRAGMENT) collect(each.selectionSet)
      else if (each.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = info.fragments[each.name.value]
        if (!fragment || spread.has(each.name.value)) continue
        spread.add(each.name.value)
        collect(fragment.selectionSet)
      } else {
        const name = each.name.value
        const found = byName.get(name) ?? { names: new Set(), nodes: [] }
        byName.set(name, found)
        found.names.add((each.alias ?? each.name).value)
        found.nodes.push(each)
      }
    }
  }

  const fields = new Map<string, SelectedField>()
  for (const [name, found] of byName) {
    const hasOwn = found.nodes.some(({ selectionSet }) => selectionSet)
    fields.set(name, { names: [...found.names], selection: hasOwn ? select(found.nodes, info) : undefined })
  }
  return { fields }
}

function isIncluded(node: SelectionNode, { variableValues }: Info): boolean {
  if (!node.directives || node.directives.length === 0) return true
  if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false
}
