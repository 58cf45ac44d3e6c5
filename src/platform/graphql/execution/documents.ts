/** Parses, measures and validates documents, and caches them by their text. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  ValuesOfCorrectTypeRule,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { ExactValuesRule } from '../schema/exact-input.ts'
import type { Schemas } from '../schema/schema.ts'
import { type DocumentLimits, maxProblems, measureDocument, measureText } from './document-limits.ts'
import { createCompiledOperations, DocumentOperation, type DocumentOperationDeps } from './document-operation.ts'
import { refuseDocument } from './refused-request.ts'
import { UnconditionalRootRule } from './unconditional-root.rule.ts'

export interface Limits extends DocumentLimits {
  cost: number
}

export interface DocumentsOptions {
  schemas: Schemas
  limits: Limits
  allowsIntrospection: boolean
}

export interface Document {
  readonly id: number
  readonly node: DocumentNode
  /** Throws if there is no such operation, or if the name is missing and ambiguous. */
  getOperation(name: string | undefined): DocumentOperation
}

interface NewDocument {
  id: number
  node: DocumentNode
  isSmall: boolean
  deps: DocumentOperationDeps
}

/** Total length of cached texts. Parsed documents take about a hundred times as much memory. */
const maxCachedCharacters = 512 * 1024
const maxCached = 1000

/** A field takes about 0.1 ms to compile and 3 kB of memory. Fields of fragments count at each spread. */
const maxCompiledFields = 150

export function createDocuments({ schemas, limits, allowsIntrospection }: DocumentsOptions) {
  const cache = new LRUCache<string, Document>({
    max: maxCached,
    maxSize: maxCachedCharacters,
    sizeCalculation: (_document, text) => Math.max(1, text.length),
  })
  const deps: DocumentOperationDeps = { schemas, maxCost: limits.cost, compiled: createCompiledOperations() }
  const rules = specifiedRules.map((rule) => (rule === ValuesOfCorrectTypeRule ? ExactValuesRule : rule))
  if (!allowsIntrospection) rules.push(NoSchemaIntrospectionCustomRule)
  let lastId = 0

  function read(text: string): Document {
    withParseErrors(() => measureText(text, limits))
    const node = withParseErrors(() => parse(text))
    const { fields } = measureDocument(node, limits)
    const schema = schemas.public
    // Separate and first: the specified rules fail on a condition that is a variable.
    const conditional = validate(schema, node, [UnconditionalRootRule], { maxErrors: 1 })
    if (conditional.length > 0) throw refuseDocument('GRAPHQL_VALIDATION_FAILED', conditional)
    const problems = validate(schema, node, rules, { maxErrors: maxProblems, hideSuggestions: !allowsIntrospection })
    if (problems.length > 0) throw refuseDocument('GRAPHQL_VALIDATION_FAILED', problems)
    lastId += 1
    return createDocument({ id: lastId, node, isSmall: fields <= maxCompiledFields, deps })
  }

  return {
    /** Throws RefusedRequest. */
    get(text: string): Document {
      let document = cache.get(text)
      if (!document) {
        document = read(text)
        cache.set(text, document)
      }
      return document
    },
  }
}

function createDocument({ id, node, isSmall, deps }: NewDocument): Document {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations = new Map<string | undefined, DocumentOperation>()
  for (const each of node.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
    if (each.kind === Kind.OPERATION_DEFINITION) {
      operations.set(
        each.name?.value,
        new DocumentOperation({ operation: each, document: node, fragments, isSmall, deps }),
      )
    }
  }
  return { id, node, getOperation }

  function getOperation(name: string | undefined): DocumentOperation {
    const found = name === undefined && operations.size === 1 ? [...operations.values()][0] : operations.get(name)
    if (found) return found
    const message = name === undefined ? 'Must provide operation name' : `Unknown operation named "${name}"`
    throw refuseDocument('OPERATION_RESOLUTION_FAILURE', [new GraphQLError(message)])
  }
}

function withParseErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof GraphQLError) throw refuseDocument('GRAPHQL_PARSE_FAILED', [error])
    throw error
  }
}
