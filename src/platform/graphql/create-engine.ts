/** The engine: documents are prepared once and compiled when they come again; subscriptions share what they can. */
import { type ExecutionResult, execute, type GraphQLError, type GraphQLSchema, type OperationTypeNode } from 'graphql'
import type { Bus } from '../bus/bus.ts'
import type { Principal } from '../http/access.ts'
import type { Policies } from '../http/authorize.ts'
import { createDocuments, type Limits } from './documents.ts'
import type { Context, ContextLog, Element } from './elements.ts'
import type { Answer, Engine, GraphQLRequest, Prepared } from './engine.ts'
import { formatExecutionError, formatThrown } from './errors.ts'
import { createGuards } from './guards.ts'
import { RefusedRequest } from './refused-request.ts'
import { createSchema } from './schema.ts'
import { createSubscriptions } from './subscriptions.ts'

export interface EngineOptions {
  elements: readonly Element[]
  policies: Policies<Principal>
  bus: Bus
  /** For what happens outside of a request. */
  log: ContextLog
  limits: Limits
  allowsIntrospection: boolean
}

export function createEngine({ elements, policies, bus, log, limits, allowsIntrospection }: EngineOptions): Engine {
  const guards = createGuards(policies)
  const schema = createSchema(elements, guards)
  const documents = createDocuments({ schema, limits, allowsIntrospection })

  /** `root` is what the fields of a subscription are resolved from. */
  async function run(
    { document, operationName, variables }: Prepared,
    context: Context,
    root?: unknown,
  ): Promise<Answer> {
    const compiled = document.operation(operationName).findCompiled()
    try {
      const result: ExecutionResult = compiled
        ? await compiled.query(root, context, variables)
        : await execute({
            schema,
            document: document.node,
            rootValue: root,
            contextValue: context,
            variableValues: variables,
            operationName,
            // Not told: what a client cannot ask for.
            hideSuggestions: !allowsIntrospection,
          })
      const hasData = result.data !== undefined
      if (!result.errors) return { text: (compiled?.stringify ?? JSON.stringify)(result), hasData }
      const errors = result.errors.map((error: GraphQLError) => formatExecutionError(error, context.log))
      return { text: JSON.stringify({ errors, ...(hasData && { data: result.data }) }), hasData }
    } catch (error) {
      return { text: JSON.stringify({ errors: [formatThrown(error, context.log)] }), hasData: false }
    }
  }

  const subscriptions = createSubscriptions({ schema, guards, bus, log, run })

  return {
    schema,
    prepare(request) {
      const { query, variables, operationName } = readRequest(request)
      const document = documents.get(query)
      const operation = document.operation(operationName)
      requireRoot(schema, operation.node.operation)
      return { kind: operation.node.operation, document, operationName, ...operation.requireAffordable(variables) }
    },
    execute: (prepared, context) => run(prepared, context),
    subscribe: subscriptions.open,
    counts: subscriptions.counts,
    close: subscriptions.close,
  }
}

function readRequest({ query, variables, operationName }: GraphQLRequest) {
  if (typeof query !== 'string') throw badParameter('"query" must be a string')
  if (query.trim() === '') throw badParameter('"query" must not be blank')
  if (!isMissing(variables) && (typeof variables !== 'object' || Array.isArray(variables))) {
    throw badParameter('"variables" must be an object')
  }
  if (!isMissing(operationName) && typeof operationName !== 'string')
    throw badParameter('"operationName" must be a string')
  return {
    query,
    variables: (variables ?? {}) as Record<string, unknown>,
    // Some clients send an empty name for none.
    operationName: isMissing(operationName) || operationName === '' ? undefined : (operationName as string),
  }
}

/** No rule of validation looks at it: a schema may have no mutations at all, and executing one would be a fault of ours. */
function requireRoot(schema: GraphQLSchema, kind: Prepared['kind']): void {
  if (schema.getRootType(kind as OperationTypeNode)) return
  const message = `This schema has no ${kind}`
  throw new RefusedRequest('document', [{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }])
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function badParameter(message: string): RefusedRequest {
  return new RefusedRequest('parameters', [{ message, extensions: { code: 'BAD_REQUEST' } }])
}
