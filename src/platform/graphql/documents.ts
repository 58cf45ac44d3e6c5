/** Documents as clients send them: read, measured, validated, and kept for the next time. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { LRUCache } from 'lru-cache'
import { compilesRight } from './compiles-right.ts'
import { costOf } from './cost.ts'
import { type DocumentLimits, measureDocument, measureText } from './document-limits.ts'
import { PlainRootRule } from './plain-root.ts'
import { RefusedRequest } from './refused-request.ts'
import { createVariables } from './variables.ts'

export interface Limits extends DocumentLimits {
  cost: number
}

export interface DocumentsOptions {
  schema: GraphQLSchema
  limits: Limits
  allowsIntrospection: boolean
}

export interface Document {
  readonly id: number
  readonly node: DocumentNode
  /** Throws where the name leads to no operation, or where one is needed to tell. */
  operation(name: string | undefined): Operation
}

export interface Operation {
  readonly node: OperationDefinitionNode
  /** Throws where the variables are not what it declares, or where it asks for too much. */
  requireAffordable(variables: Readonly<Record<string, unknown>>): { cost: number; variables: Record<string, unknown> }
  /** The operation as a function of its own, once it has been asked for often enough. */
  findCompiled(): CompiledQuery | undefined
}

/** Of the texts of all kept documents together. What is made of them takes about a hundred times as much. */
const maxKeptCharacters = 512 * 1024
const maxKept = 1000

/** Compiling takes as long as executing dozens of times. Whoever sends ever new documents gains nothing by it. */
const usesBeforeCompiling = 3

/** A field takes about 0.1 ms to compile and 3 kB to keep. Those of fragments count each time they are spread. */
const maxCompiledFields = 150
const maxCompiled = 200

const maxProblems = 10

export function createDocuments({ schema, limits, allowsIntrospection }: DocumentsOptions) {
  const kept = new LRUCache<string, Document>({
    max: maxKept,
    maxSize: maxKeptCharacters,
    sizeCalculation: (_document, text) => Math.max(1, text.length),
  })
  const compiled = new LRUCache<OperationDefinitionNode, CompiledQuery>({ max: maxCompiled })
  const rules = [...specifiedRules, ...(allowsIntrospection ? [] : [NoSchemaIntrospectionCustomRule])]
  let lastId = 0

  function read(text: string): Document {
    readSyntax(() => measureText(text, limits))
    const node = readSyntax(() => parse(text))
    const { fields } = measureDocument(node, limits)
    // By itself and first: the rules that come with the package cannot read a condition that is a variable.
    const conditional = validate(schema, node, [PlainRootRule], { maxErrors: 1 })
    if (conditional.length > 0) throw refuse('GRAPHQL_VALIDATION_FAILED', conditional)
    const problems = validate(schema, node, rules, { maxErrors: maxProblems, hideSuggestions: !allowsIntrospection })
    if (problems.length > 0) throw refuse('GRAPHQL_VALIDATION_FAILED', problems)
    lastId += 1
    return createDocument({ id: lastId, node, isCompilable: fields <= maxCompiledFields && compilesRight(node) })
  }

  function createDocument({ id, node, isCompilable }: { id: number; node: DocumentNode; isCompilable: boolean }) {
    const fragments = new Map<string, FragmentDefinitionNode>()
    const operations = new Map<string | undefined, Operation>()
    for (const each of node.definitions) {
      if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
      if (each.kind === Kind.OPERATION_DEFINITION) operations.set(each.name?.value, createOperation(each))
    }
    return { id, node, operation: find }

    function find(name: string | undefined): Operation {
      const found = name === undefined && operations.size === 1 ? [...operations.values()][0] : operations.get(name)
      if (found) return found
      const message = name === undefined ? 'Must provide operation name' : `Unknown operation named "${name}"`
      throw refuse('OPERATION_RESOLUTION_FAILURE', [new GraphQLError(message)])
    }

    function createOperation(operation: OperationDefinitionNode): Operation {
      const hasVariables = (operation.variableDefinitions ?? []).length > 0
      const hideSuggestions = !allowsIntrospection
      const readVariables = createVariables({ schema, document: node, operation, hideSuggestions, maxProblems })
      let fixedCost: number | undefined
      let uses = 0

      function costWith(given: Readonly<Record<string, unknown>>): number {
        // With their defaults, as they will be executed.
        const { errors, coerced } = readVariables(given)
        if (errors) throw refuse('BAD_USER_INPUT', errors)
        return costOf({ schema, operation, fragments, variables: coerced })
      }

      return {
        node: operation,
        requireAffordable(given) {
          const cost = fixedCost ?? costWith(given)
          if (!hasVariables) fixedCost = cost
          if (cost > limits.cost) throw tooExpensive(cost, limits.cost)
          return { cost, variables: declared(operation, given) }
        },
        findCompiled() {
          if (!isCompilable || uses < 0) return undefined
          const known = compiled.get(operation)
          if (known) return known
          uses += 1
          if (uses < usesBeforeCompiling) return undefined
          const made = compileQuery(schema, node, operation.name?.value ?? '', { customJSONSerializer: true })
          if (!isCompiledQuery(made)) {
            // What cannot be compiled is executed as before.
            uses = Number.NEGATIVE_INFINITY
            return undefined
          }
          compiled.set(operation, made)
          return made
        },
      }
    }
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

export function tooExpensive(cost: number, limit: number): RefusedRequest {
  const message = `The operation may cost ${cost}, more than the ${limit} allowed: ask for less at once`
  return refuse('OPERATION_TOO_EXPENSIVE', [new GraphQLError(message)])
}

/** What else a client sends is not kept, however much it is. */
function declared(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value
    if (Object.hasOwn(given, name)) kept[name] = given[name]
  }
  return kept
}

function readSyntax<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof GraphQLError) throw refuse('GRAPHQL_PARSE_FAILED', [error])
    throw error
  }
}

function refuse(code: string, errors: readonly GraphQLError[]): RefusedRequest {
  return new RefusedRequest(
    'document',
    errors.map(({ message, locations }) => ({ message, ...(locations && { locations }), extensions: { code } })),
  )
}
