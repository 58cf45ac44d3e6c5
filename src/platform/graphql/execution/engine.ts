import { execute, type GraphQLError, type GraphQLSchema, type OperationTypeNode } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import { type CurrentClient, clientGone, isClientGone, runForClient } from '../../../core/current-client.ts'
import type { Policies } from '../../access/authorize.ts'
import type { Principal } from '../../access/route-guards.ts'
import type { Bus } from '../../bus/bus.ts'
import { cancellableClient, steadyClient } from '../../http/request-client.ts'
import type { Context, ContextLog, Element } from '../schema/elements.ts'
import { createGuards } from '../schema/guards.ts'
import { createSchemas } from '../schema/schema.ts'
import { createSubscriptions } from '../subscriptions/subscriptions.ts'
import { createDocuments, type Limits } from './documents.ts'
import type { Engine, GraphQLRequest, GraphQLResponse, Prepared } from './engine.types.ts'
import { createErrorCounter } from './error-counts.ts'
import { createFairScheduler, type FairScheduler } from './fair-scheduler.ts'
import { formatExecutionError, formatThrown } from './graphql-errors.ts'
import { RefusedRequest } from './refused-request.ts'
import { endResponse } from './response-budget.ts'

export interface EngineOptions {
  elements: readonly Element[]
  policies: Policies<Principal>
  bus: Bus
  /** For errors outside of a request. */
  log: ContextLog
  limits: Limits
  allowsIntrospection: boolean
  /** Shared with the sockets. */
  scheduler?: FairScheduler
  /** Called with one of `countedCodes` for each error sent to a client. */
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
  const scheduler =
    rest.scheduler ?? createFairScheduler({ onError: (error) => log.error({ err: error }, 'a subscription failed') })
  const guards = createGuards(policies)
  const countErrors = createErrorCounter(rest.countError ?? (() => {}))
  const schemas = createSchemas(elements, guards)
  const documents = createDocuments({ schemas, limits, allowsIntrospection })

  /** `root` is the value that a subscription has yielded. */
  async function run(prepared: Prepared, context: Context, root?: unknown): Promise<GraphQLResponse> {
    const operation = prepared.document.getOperation(prepared.operationName)
    const compiled = operation.findCompiled()
    const text = compiled && (await runCompiled(compiled, { prepared, context, root }))
    endResponse(context, { isUsed: text !== undefined })
    if (text !== undefined) return { text, hasData: true }
    requireClient(prepared, context)
    // A new context: neither loaders nor size of the failed compiled run belong to this response.
    const freshContext: Context = Object.create(context)
    try {
      const result = await execute({
        ...operation.interpreted,
        rootValue: root,
        contextValue: freshContext,
        variableValues: prepared.variables,
        operationName: prepared.operationName,
      })
      requireClient(prepared, context)
      const hasData = result.data !== undefined
      if (!result.errors) return { text: JSON.stringify(result), hasData }
      const errors = result.errors.map((error: GraphQLError) => formatExecutionError(error, context.log))
      countErrors(errors)
      return { text: JSON.stringify({ errors, ...(hasData && { data: result.data }) }), hasData }
    } catch (error) {
      if (isClientGone(error)) throw error
      const errors = [formatThrown(error, context.log)]
      countErrors(errors)
      return { text: JSON.stringify({ errors }), hasData: false }
    } finally {
      endResponse(freshContext)
    }
  }

  const subscriptions = createSubscriptions({
    schemas,
    guards,
    bus,
    log,
    scheduler,
    run,
    onErrors: countErrors,
  })

  return {
    prepareSchema: () => void schemas.public,
    prepare(request) {
      const { query, variables, operationName } = readRequest(request)
      const document = documents.get(query)
      const operation = document.getOperation(operationName)
      requireRoot(schemas.public, operation.node.operation)
      return { kind: operation.node.operation, document, operationName, ...operation.requireAffordable(variables) }
    },
    execute: (prepared, context) =>
      runForClient(
        () => readerOf(prepared, context),
        () => run(prepared, context),
      ),
    subscribe: (prepared, context, subscriber) =>
      runForClient(
        () => readerOf(prepared, context),
        () => subscriptions.open(prepared, context, subscriber),
      ),
    counts: subscriptions.counts,
    countErrors,
    close: subscriptions.close,
  }
}

/** Only a query is given up with its client: a mutation is completed, and others may share a subscription. */
function readerOf({ kind }: Prepared, { client }: Context): CurrentClient {
  return kind === 'query' ? cancellableClient(client) : steadyClient(client.address)
}

function requireClient({ kind }: Prepared, { client }: Context): void {
  if (kind === 'query' && client.isGone?.()) throw clientGone()
}

interface RunOptions {
  prepared: Prepared
  context: Context
  root: unknown
}

/** Returns undefined on any error: graphql-jit does not follow the specification in case of errors. */
async function runCompiled(
  compiled: CompiledQuery,
  { prepared, context, root }: RunOptions,
): Promise<string | undefined> {
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
    // Some clients send an empty string for no name.
    operationName: isMissing(operationName) || operationName === '' ? undefined : (operationName as string),
  }
}

/** No validation rule covers a missing root type, and executing such an operation would be an internal error. */
function requireRoot(schema: GraphQLSchema, kind: Prepared['kind']): void {
  if (schema.getRootType(kind as OperationTypeNode)) return
  const message = `This schema has no ${kind}`
  throw new RefusedRequest('document', [{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }])
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** Automatic persisted queries are not supported; on this error clients send the whole document. */
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
