/** One operation of a cached document: its cost, its variables, and its compiled form. */
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
import { createVariableReader, type ReadVariables } from './variables.ts'

/** Shared by all operations. */
export interface DocumentOperationDeps {
  schemas: Schemas
  maxCost: number
  compiled: LRUCache<OperationDefinitionNode, CompiledQuery>
}

export interface DocumentOperationOptions {
  operation: OperationDefinitionNode
  document: DocumentNode
  fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Larger documents are never compiled. */
  isSmall: boolean
  deps: DocumentOperationDeps
}

/** Compiling costs as much as dozens of executions, which a document used once would waste. */
const usesBeforeCompiling = 3

const maxCompiled = 200

export function createCompiledOperations(): DocumentOperationDeps['compiled'] {
  return new LRUCache({ max: maxCompiled })
}

export class DocumentOperation {
  readonly node: OperationDefinitionNode
  /** For graphql-js, with coerced variables. */
  readonly interpreted: { schema: GraphQLSchema; document: DocumentNode }
  readonly #options: DocumentOperationOptions
  readonly #hasVariables: boolean
  readonly #readVariables: ReadVariables
  /** The document with variables of coercedType. */
  readonly #executable: DocumentNode
  #fixedCost: number | undefined
  #uses = 0

  constructor(options: DocumentOperationOptions) {
    const { operation, document, deps } = options
    const schema = deps.schemas.public
    this.node = operation
    this.#options = options
    this.#hasVariables = (operation.variableDefinitions ?? []).length > 0
    this.#readVariables = createVariableReader({ schema, document, operation, maxProblems })
    this.#executable = withCoercedVariables(document, operation)
    // Introspection must not show coercedType.
    this.interpreted = hasIntrospection(document)
      ? { schema, document }
      : { schema: deps.schemas.interpreted, document: this.#executable }
  }

  /**
   * Returns the cost and the coerced variables. Throws RefusedRequest if variables are invalid or the cost is too high.
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

  /** Compiles the operation once it has been executed often enough. */
  findCompiled(): CompiledQuery | undefined {
    const { isSmall, deps } = this.#options
    if (!isSmall || this.#uses < 0) return undefined
    const known = deps.compiled.get(this.node)
    if (known) return known
    this.#uses += 1
    if (this.#uses < usesBeforeCompiling) return undefined
    const made = this.#compile()
    if (made) deps.compiled.set(this.node, made)
    // Never try again what cannot be compiled.
    else this.#uses = Number.NEGATIVE_INFINITY
    return made
  }

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

/** Gives all variables coercedType, so that executors pass the coerced values through. */
function withCoercedVariables(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
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

function hasIntrospection(document: DocumentNode): boolean {
  let isFound = false
  visit(document, {
    Field({ name: { value } }) {
      if (value === '__schema' || value === '__type') isFound = true
    },
  })
  return isFound
}
