/** The engine: documents are prepared once and compiled when they come again; subscriptions share what they can. */
import { execute, type GraphQLError, type GraphQLSchema, type OperationTypeNode } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import type { Policies } from '../../access/authorize.ts'
import type { Principal } from '../../access/route-guards.ts'
import type { Bus } from '../../bus/bus.ts'
import type { Context, ContextLog, Element } from '../schema/elements.ts'
import { createGuards } from '../schema/guards.ts'
import { createSchemas } from '../schema/schema.ts'
import { createSubscriptions } from '../subscriptions/subscriptions.ts'
import { createDocuments, type Limits } from './documents.ts'
import type { Answer, Engine, GraphQLRequest, Prepared } from './engine.types.ts'
import { createErrorCounter } from './error-counts.ts'
import { createFairTurns, type FairTurns } from './fair-turns.ts'
import { formatExecutionError, formatThrown } from './graphql-errors.ts'
import { RefusedRequest } from './refused-request.ts'
import { endAnswer } from './response-budget.ts'

export interface EngineOptions {
  elements: readonly Element[]
  policies: Policies<Principal>
  bus: Bus
  /** For what happens outside of a request. */
  log: ContextLog
  limits: Limits
  allowsIntrospection: boolean
  /** Shared with whoever else works for clients, such as sockets. */
  turns?: FairTurns
  /** Notified of each error that is answered, by one of `countedCodes`. */
  countError?(code: string): void
}

export function createEngine({
  elements,
  policies,
  bus,
  log,
  limits,
  allowsIntrospection,
  ...rest
}: EngineOptions): Engine {
  const turns =
    rest.turns ?? createFairTurns({ onError: (error) => log.error({ err: error }, 'a subscription failed') })
  const guards = createGuards(policies)
  const countErrors = createErrorCounter(rest.countError ?? (() => {}))
  const schemas = createSchemas(elements, guards)
  const documents = createDocuments({ schemas, limits, allowsIntrospection })

  /** `root` is what the fields of a subscription are resolved from. */
  async function run(prepared: Prepared, context: Context, root?: unknown): Promise<Answer> {
    const operation = prepared.document.operation(prepared.operationName)
    const compiled = operation.findCompiled()
    const text = compiled && (await runCompiled(compiled, { prepared, context, root }))
    endAnswer(context, { isAnswered: text !== undefined })
    if (text !== undefined) return { text, hasData: true }
    // A context of its own: what the compiled code has loaded, and how much of it, is no part of this answer.
    const own: Context = Object.create(context)
    try {
      const result = await execute({
        ...operation.interpreted,
        rootValue: root,
        contextValue: own,
        variableValues: prepared.variables,
        operationName: prepared.operationName,
      })
      const hasData = result.data !== undefined
      if (!result.errors) return { text: JSON.stringify(result), hasData }
      const errors = result.errors.map((error: GraphQLError) => formatExecutionError(error, context.log))
      countErrors(errors)
      return { text: JSON.stringify({ errors, ...(hasData && { data: result.data }) }), hasData }
    } catch (error) {
      const errors = [formatThrown(error, context.log)]
      countErrors(errors)
      return { text: JSON.stringify({ errors }), hasData: false }
    } finally {
      endAnswer(own)
    }
  }

  const subscriptions = createSubscriptions({
    schema: schemas.public,
    guards,
    bus,
    log,
    turns,
    run,
    onErrors: countErrors,
  })

  return {
    schema: schemas.public,
    prepare(request) {
      const { query, variables, operationName } = readRequest(request)
      const document = documents.get(query)
      const operation = document.operation(operationName)
      requireRoot(schemas.public, operation.node.operation)
      return { kind: operation.node.operation, document, operationName, ...operation.requireAffordable(variables) }
    },
    execute: (prepared, context) => run(prepared, context),
    subscribe: subscriptions.open,
    counts: subscriptions.counts,
    countErrors,
    close: subscriptions.close,
  }
}

interface Run {
  prepared: Prepared
  context: Context
  root: unknown
}

/** Returns nothing where anything failed: what compiled code makes of failures is not what the specification has. */
async function runCompiled(compiled: CompiledQuery, { prepared, context, root }: Run): Promise<string | undefined> {
  try {
    const result = await compiled.query(root, context, prepared.variables)
    return result.errors ? undefined : compiled.stringify(result)
  } catch {
    return undefined
  }
}

function readRequest({ query, variables, operationName, extensions }: GraphQLRequest) {
  if ((isMissing(query) || query === '') && isPersisted(extensions)) throw persistedNotSupported()
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

/** Documents are not kept by their hash. Clients send the whole of them when they are told so. */
function isPersisted(extensions: unknown): boolean {
  return typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions
}

function persistedNotSupported(): RefusedRequest {
  const extensions = { code: 'PERSISTED_QUERY_NOT_SUPPORTED' }
  return new RefusedRequest('persisted', [{ message: 'PersistedQueryNotSupported', extensions }])
}

function badParameter(message: string): RefusedRequest {
  return new RefusedRequest('parameters', [{ message, extensions: { code: 'BAD_REQUEST' } }])
}
