/**
 * Operations that compiled code is known, or not proven, to answer rightly: they are interpreted. Of the others it only
 * has to be right where nothing fails, because whatever fails is answered by the interpreter.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'

export interface CompilableOptions {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
}

export function isCompilable({ schema, document, operation }: CompilableOptions): boolean {
  // Mutations cannot be executed anew, and their resolvers take longer than anything that compiling would save.
  if (operation.operation === 'mutation') return false
  const root = schema.getRootType(operation.operation)
  return root !== undefined && root !== null && isPlain(document) && hasDistinctNames(root, document, operation)
}

/** A text has a length even where an object was expected; what describes the schema has resolvers that are not ours. */
const excludedNames: ReadonlySet<string> = new Set(['length', '__schema', '__type'])

/** Names that every object has by itself are mistaken for what is there; paths hold idx0, idx1, … for lists. */
function isExcludedName(name: string): boolean {
  return name in Object.prototype || name.includes('idx') || excludedNames.has(name)
}

function isPlain(document: DocumentNode): boolean {
  let isRight = true
  const exclude = () => {
    isRight = false
    return false
  }
  visit(document, {
    // @skip and @include: what is there twice, once under a condition and once not, loses fields or keeps too many.
    Directive: exclude,
    Name: ({ value }) => (isExcludedName(value) ? exclude() : undefined),
    // A variable in it that is not given becomes null, and not the default of its field or nothing.
    ObjectValue: exclude,
    ListValue: ({ values }) => (values.every(({ kind }) => kind !== Kind.VARIABLE) ? undefined : exclude()),
  })
  return isRight
}

/** The compiled code joins names: of a type and its field to find a resolver, of a path to find what was asked there. */
function hasDistinctNames(
  root: GraphQLObjectType,
  { definitions }: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const each of definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
  const fields = new Map<string, string>()
  const paths = new Map<string, string>()
  return follow(root, selectionSet, [])

  function follow(type: GraphQLObjectType, { selections }: SelectionSetNode, path: readonly string[]): boolean {
    return selections.every((selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value)
        return !fragment || follow(type, fragment.selectionSet, path)
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) return follow(type, selection.selectionSet, path)
      const name = selection.name.value
      const inner = [(selection.alias ?? selection.name).value, ...path]
      if (!isSame(fields, type.name + name, `${type.name}.${name}`)) return false
      if (!isSame(paths, inner.join('_'), inner.join('.'))) return false
      const field = type.getFields()[name]
      const next = field && getNamedType(field.type)
      return !selection.selectionSet || !isObjectType(next) || follow(next, selection.selectionSet, inner)
    })
  }
}

/** Whether nothing else was joined to the same. */
function isSame(known: Map<string, string>, joined: string, whole: string): boolean {
  const before = known.get(joined)
  known.set(joined, whole)
  return before === undefined || before === whole
}
