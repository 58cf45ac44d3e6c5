/**
 * Operations that are always interpreted, because graphql-jit executes them incorrectly or was not proven to be
 * correct. For all others it only has to be correct without errors: on any error the interpreter executes them again.
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
  // Mutations cannot be executed twice, and compiling them would save little.
  if (operation.operation === 'mutation') return false
  const root = schema.getRootType(operation.operation)
  return (
    root !== undefined && root !== null && hasSupportedSyntax(document) && hasDistinctNames(root, document, operation)
  )
}

/** A string has a `length` even where an object is expected; introspection has resolvers that are not adapted. */
const excludedNames: ReadonlySet<string> = new Set(['length', '__schema', '__type'])

/** Properties of Object.prototype are mistaken for values; paths contain idx0, idx1, … for lists. */
function isExcludedName(name: string): boolean {
  return name in Object.prototype || name.includes('idx') || excludedNames.has(name)
}

function hasSupportedSyntax(document: DocumentNode): boolean {
  let isSupported = true
  const exclude = () => {
    isSupported = false
    return false
  }
  visit(document, {
    // A field selected twice, once with @skip or @include, loses sub-fields or keeps too many.
    Directive: exclude,
    Name: ({ value }) => (isExcludedName(value) ? exclude() : undefined),
    // A missing variable inside becomes null, instead of the field's default or no value.
    ObjectValue: exclude,
    ListValue: ({ values }) => (values.every(({ kind }) => kind !== Kind.VARIABLE) ? undefined : exclude()),
  })
  return isSupported
}

/** graphql-jit concatenates names, of a type and its field, and of a path: distinct ones must not collide. */
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
      if (!isUnique(fields, type.name + name, `${type.name}.${name}`)) return false
      if (!isUnique(paths, inner.join('_'), inner.join('.'))) return false
      const field = type.getFields()[name]
      const next = field && getNamedType(field.type)
      return !selection.selectionSet || !isObjectType(next) || follow(next, selection.selectionSet, inner)
    })
  }
}

function isUnique(known: Map<string, string>, joined: string, whole: string): boolean {
  const before = known.get(joined)
  known.set(joined, whole)
  return before === undefined || before === whole
}
