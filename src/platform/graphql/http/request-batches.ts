/** Batches: an array of requests, with an array of their responses in the same order. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Engine, Prepared } from '../execution/engine.types.ts'
import { RefusedRequest, tooExpensive } from '../execution/refused-request.ts'
import { createResponseBudget, endBudget } from '../execution/response-budget.ts'
import type { ResponseBudget } from '../execution/response-budget.types.ts'
import type { Context } from '../schema/elements.ts'
import { badRequest, readParameters } from './parameters.ts'

export interface RequestBatchesOptions {
  engine: Engine
  maxRequests: number
  /** For the whole batch, so that batching cannot bypass the limit of a request. */
  maxCost: number
}

export interface BatchResponse {
  /** The JSON array of all responses. */
  text: string
  hasMutation: boolean
}

export function createRequestBatches({ engine, maxRequests, maxCost }: RequestBatchesOptions) {
  function prepare(given: unknown): Prepared | RefusedRequest {
    try {
      const prepared = engine.prepare(readParameters(given))
      if (prepared.kind === 'subscription') throw badRequest('A batch cannot hold a subscription')
      return prepared
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error
      engine.countErrors(error.errors)
      return error
    }
  }

  async function execute(each: Prepared | RefusedRequest, context: Context): Promise<string> {
    if (each instanceof RefusedRequest) return JSON.stringify({ errors: each.errors })
    return (await engine.execute(each, context)).text
  }

  async function executeInOrder(all: readonly (Prepared | RefusedRequest)[], createContext: () => Context) {
    const texts: string[] = []
    for (const each of all) texts.push(await execute(each, createContext()))
    return texts
  }

  /** Throws if the batch as a whole is refused. */
  return async (
    batch: readonly unknown[],
    createContext: (budget: ResponseBudget) => Context,
  ): Promise<BatchResponse> => {
    if (batch.length === 0) throw badRequest('The batch is empty')
    if (batch.length > maxRequests) throw badRequest(`A batch holds at most ${maxRequests} requests`)
    const prepared: (Prepared | RefusedRequest)[] = []
    for (const each of batch) {
      // Validating a new document takes milliseconds; yield between two of them.
      if (prepared.length > 0) await yieldToEventLoop()
      prepared.push(prepare(each))
    }
    let cost = 0
    for (const each of prepared) if ('cost' in each) cost += each.cost
    if (cost > maxCost) throw tooExpensive(cost, maxCost)
    const hasMutation = prepared.some((each) => 'kind' in each && each.kind === 'mutation')
    const budget = createResponseBudget()
    const createOwn = () => createContext(budget)
    try {
      // In order: a mutation may depend on the one before it.
      const texts = hasMutation
        ? await executeInOrder(prepared, createOwn)
        : await Promise.all(prepared.map((each) => execute(each, createOwn())))
      return { text: `[${texts.join(',')}]`, hasMutation }
    } finally {
      endBudget(budget)
    }
  }
}
