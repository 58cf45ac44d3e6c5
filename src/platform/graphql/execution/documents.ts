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
  ValuesOfCorrectTypeRule,
  validate,
  visit,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { LRUCache } from 'lru-cache'
import { ExactValuesRule } from '../schema/exact-input.ts'
import { coercedType, type Schemas } from '../schema/schema.ts'
import { costOf } from './cost.ts'
import { type DocumentLimits, measureDocument, measureText } from './document-limits.ts'
import { isCompilable } from './jit-exclusions.ts'
import { RefusedRequest } from './refused-request.ts'
import { UnconditionalRootRule } from './unconditional-root.rule.ts'
import { createVariables } from './variables.ts'

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

export interface Operation {
  readonly node: OperationDefinitionNode
  /**
   * Returns the variables as its types and defaults make them. Throws where they are not what it declares, or where it
   * asks for too much.
   */
  requireAffordable(variables: Readonly<Record<string, unknown>>): { cost: number; variables: Record<string, unknown> }
  /** What graphql-js is to execute, with variables that are coerced. */
  readonly interpreted: { schema: GraphQLSchema; document: DocumentNode }
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

export function createDocuments({ schemas, limits, allowsIntrospection }: DocumentsOptions) {
  const schema = schemas.public
  const kept = new LRUCache<string, Document>({
    max: maxKept,
    maxSize: maxKeptCharacters,
    sizeCalculation: (_document, text) => Math.max(1, text.length),
  })
  const compiled = new LRUCache<OperationDefinitionNode, CompiledQuery>({ max: maxCompiled })
  const rules = specifiedRules.map((rule) => (rule === ValuesOfCorrectTypeRule ? ExactValuesRule : rule))
  if (!allowsIntrospection) rules.push(NoSchemaIntrospectionCustomRule)
  let lastId = 0

  function read(text: string): Document {
    readSyntax(() => measureText(text, limits))
    const node = readSyntax(() => parse(text))
    const { fields } = measureDocument(node, limits)
    // By itself and first: the rules that come with the package cannot read a condition that is a variable.
    const conditional = validate(schema, node, [UnconditionalRootRule], { maxErrors: 1 })
    if (conditional.length > 0) throw refuse('GRAPHQL_VALIDATION_FAILED', conditional)
    const problems = validate(schema, node, rules, { maxErrors: maxProblems, hideSuggestions: !allowsIntrospection })
    if (problems.length > 0) throw refuse('GRAPHQL_VALIDATION_FAILED', problems)
    lastId += 1
    return createDocument({ id: lastId, node, isSmall: fields <= maxCompiledFields })
  }

  function createDocument({ id, node, isSmall }: { id: number; node: DocumentNode; isSmall: boolean }): Document {
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
      const readVariables = createVariables({ schema, document: node, operation, maxProblems })
      const executable = passCoerced(node, operation)
      // The types that executors have for variables are not to be described to anybody.
      const interpreted = describesSchema(node)
        ? { schema, document: node }
        : { schema: schemas.interpreted, document: executable }
      let fixedCost: number | undefined
      let uses = 0

      function measure(given: Readonly<Record<string, unknown>>) {
        const { errors, coerced } = hasVariables ? readVariables(given) : { coerced: {} }
        if (errors) throw refuse('BAD_USER_INPUT', errors)
        // With their defaults, as they will be executed.
        const cost = fixedCost ?? costOf({ schema, operation, fragments, variables: coerced })
        if (!hasVariables) fixedCost = cost
        return { cost, variables: coerced }
      }

      return {
        node: operation,
        requireAffordable(given) {
          const measured = measure(given)
          if (measured.cost > limits.cost) throw tooExpensive(measured.cost, limits.cost)
          return measured
        },
        interpreted,
        findCompiled() {
          if (!isSmall || uses < 0) return undefined
          const known = compiled.get(operation)
          if (known) return known
          uses += 1
          if (uses < usesBeforeCompiling) return undefined
          const made = isCompilable({ schema, document: node, operation }) ? compile(executable, operation) : undefined
          if (made) compiled.set(operation, made)
          // What cannot be compiled is executed as before.
          else uses = Number.NEGATIVE_INFINITY
          return made
        },
      }
    }
  }

  function compile(document: DocumentNode, { name }: OperationDefinitionNode): CompiledQuery | undefined {
    const options = { customJSONSerializer: true, disablingCapturingStackErrors: true }
    const made = compileQuery(schemas.compiled, document, name?.value ?? '', options)
    return isCompiledQuery(made) ? made : undefined
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

/** The document for an executor that is handed coerced variables: all of them are of the one type that passes as it is. */
function passCoerced(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const { variableDefinitions = [] } = operation
  if (variableDefinitions.length === 0) return document
  const type = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: coercedType } } as const
  const passing = {
    ...operation,
    variableDefinitions: variableDefinitions.map(({ kind, variable, loc }) => ({
      kind,
      variable,
      type,
      ...(loc && { loc }),
    })),
  }
  return { ...document, definitions: document.definitions.map((each) => (each === operation ? passing : each)) }
}

function describesSchema(document: DocumentNode): boolean {
  let isDescribing = false
  visit(document, {
    Field({ name: { value } }) {
      if (value === '__schema' || value === '__type') isDescribing = true
    },
  })
  return isDescribing
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
