/** Documents as clients send them: read, measured, validated, and kept for the next time. */
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
import { createCompiledOperations, Operation, type OperationDeps } from './operation.ts'
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
  /** Throws where the name leads to no operation, or where one is needed to tell. */
  operation(name: string | undefined): Operation
}

interface NewDocument {
  id: number
  node: DocumentNode
  isSmall: boolean
  deps: OperationDeps
}

/** Of the texts of all kept documents together. What is made of them takes about a hundred times as much. */
const maxKeptCharacters = 512 * 1024
const maxKept = 1000

/** A field takes about 0.1 ms to compile and 3 kB to keep. Those of fragments count each time they are spread. */
const maxCompiledFields = 150

export function createDocuments({ schemas, limits, allowsIntrospection }: DocumentsOptions) {
  const schema = schemas.public
  const kept = new LRUCache<string, Document>({
    max: maxKept,
    maxSize: maxKeptCharacters,
    sizeCalculation: (_document, text) => Math.max(1, text.length),
  })
  const deps: OperationDeps = { schemas, maxCost: limits.cost, compiled: createCompiledOperations() }
  const rules = specifiedRules.map((rule) => (rule === ValuesOfCorrectTypeRule ? ExactValuesRule : rule))
  if (!allowsIntrospection) rules.push(NoSchemaIntrospectionCustomRule)
  let lastId = 0

  function read(text: string): Document {
    readSyntax(() => measureText(text, limits))
    const node = readSyntax(() => parse(text))
    const { fields } = measureDocument(node, limits)
    // By itself and first: the rules that come with the package cannot read a condition that is a variable.
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
      let document = kept.get(text)
      if (!document) {
        document = read(text)
        kept.set(text, document)
      }
      return document
    },
  }
}

function createDocument({ id, node, isSmall, deps }: NewDocument): Document {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations = new Map<string | undefined, Operation>()
  for (const each of node.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
    if (each.kind === Kind.OPERATION_DEFINITION) {
      operations.set(each.name?.value, new Operation({ operation: each, document: node, fragments, isSmall, deps }))
    }
  }
  return { id, node, operation: find }

  function find(name: string | undefined): Operation {
    const found = name === undefined && operations.size === 1 ? [...operations.values()][0] : operations.get(name)
    if (found) return found
    const message = name === undefined ? 'Must provide operation name' : `Unknown operation named "${name}"`
    throw refuseDocument('OPERATION_RESOLUTION_FAILURE', [new GraphQLError(message)])
  }
}

function readSyntax<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof GraphQLError) throw refuseDocument('GRAPHQL_PARSE_FAILED', [error])
    throw error
  }
}
