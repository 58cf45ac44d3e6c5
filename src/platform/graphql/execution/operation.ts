/** One operation of a document that is kept: what it costs, its variables, and how it is executed. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { LRUCache } from 'lru-cache'
import { coercedType, type Schemas } from '../schema/schema.ts'
import { costOf } from './cost.ts'
import { maxProblems } from './document-limits.ts'
import { isCompilable } from './jit-exclusions.ts'
import { refuseDocument, tooExpensive } from './refused-request.ts'
import { createVariables, type ReadVariables } from './variables.ts'

/** What all operations share. */
export interface OperationDeps {
  schemas: Schemas
  maxCost: number
  compiled: LRUCache<OperationDefinitionNode, CompiledQuery>
}

export interface OperationOptions {
  operation: OperationDefinitionNode
  document: DocumentNode
  fragments: ReadonlyMap<string, FragmentDefinitionNode>
  isSmall: boolean
  deps: OperationDeps
}

/** Compiling takes as long as executing dozens of times. Whoever sends ever new documents gains nothing by it. */
const usesBeforeCompiling = 3

const maxCompiled = 200

export function createCompiledOperations(): OperationDeps['compiled'] {
  return new LRUCache({ max: maxCompiled })
}

export class Operation {
  readonly node: OperationDefinitionNode
  /** What graphql-js is to execute, with variables that are coerced. */
  readonly interpreted: { schema: GraphQLSchema; document: DocumentNode }
  readonly #options: OperationOptions
  readonly #hasVariables: boolean
  readonly #readVariables: ReadVariables
  /** The document for an executor that is handed coerced variables. */
  readonly #executable: DocumentNode
  #fixedCost: number | undefined
  #uses = 0

  constructor(options: OperationOptions) {
    const { operation, document, deps } = options
    const schema = deps.schemas.public
    this.node = operation
    this.#options = options
    this.#hasVariables = (operation.variableDefinitions ?? []).length > 0
    this.#readVariables = createVariables({ schema, document, operation, maxProblems })
    this.#executable = passCoerced(document, operation)
    // The types that executors have for variables are not to be described to anybody.
    this.interpreted = describesSchema(document)
      ? { schema, document }
      : { schema: deps.schemas.interpreted, document: this.#executable }
  }

  /**
   * Returns the variables as its types and defaults make them. Throws where they are not what it declares, or where it
   * asks for too much.
   */
  requireAffordable(given: Readonly<Record<string, unknown>>): { cost: number; variables: Record<string, unknown> } {
    const { maxCost } = this.#options.deps
    const { errors, coerced } = this.#hasVariables ? this.#readVariables(given) : { coerced: {} }
    if (errors) throw refuseDocument('BAD_USER_INPUT', errors)
    const cost = this.#fixedCost ?? this.#measure(coerced)
    if (!this.#hasVariables) this.#fixedCost = cost
    if (cost > maxCost) throw tooExpensive(cost, maxCost)
    return { cost, variables: coerced }
  }

  /** The operation as a function of its own, once it has been asked for often enough. */
  findCompiled(): CompiledQuery | undefined {
    const { isSmall, deps } = this.#options
    if (!isSmall || this.#uses < 0) return undefined
    const known = deps.compiled.get(this.node)
    if (known) return known
    this.#uses += 1
    if (this.#uses < usesBeforeCompiling) return undefined
    const made = this.#compile()
    if (made) deps.compiled.set(this.node, made)
    // What cannot be compiled is executed as before.
    else this.#uses = Number.NEGATIVE_INFINITY
    return made
  }

  /** With the defaults of the variables, as they will be executed. */
  #measure(variables: Record<string, unknown>): number {
    const { operation, fragments, deps } = this.#options
    return costOf({ schema: deps.schemas.public, operation, fragments, variables })
  }

  #compile(): CompiledQuery | undefined {
    const { operation, document, deps } = this.#options
    if (!isCompilable({ schema: deps.schemas.public, document, operation })) return undefined
    const options = { customJSONSerializer: true, disablingCapturingStackErrors: true }
    const made = compileQuery(deps.schemas.compiled, this.#executable, operation.name?.value ?? '', options)
    return isCompiledQuery(made) ? made : undefined
  }
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
