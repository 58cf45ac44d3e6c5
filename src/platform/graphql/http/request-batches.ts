/** Several requests in one. Each is answered in its place, as if it had come alone. */
import { setImmediate as rest } from 'node:timers/promises'
import type { AnswerBudget } from '../execution/answer-budget.ts'
import type { Engine, Prepared } from '../execution/engine.types.ts'
import { RefusedRequest, tooExpensive } from '../execution/refused-request.ts'
import { createAnswerBudget, endBudget } from '../execution/response-budget.ts'
import type { Context } from '../schema/elements.ts'
import { badRequest, readParameters } from './parameters.ts'

export interface RequestBatchesOptions {
  engine: Engine
  maxRequests: number
  /** Of all of them together: a batch is no way around the limit of one. */
  maxCost: number
}

export interface BatchAnswer {
  /** The JSON of all. */
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

  async function answer(each: Prepared | RefusedRequest, context: Context): Promise<string> {
    if (each instanceof RefusedRequest) return JSON.stringify({ errors: each.errors })
    return (await engine.execute(each, context)).text
  }

  async function answerOneByOne(all: readonly (Prepared | RefusedRequest)[], createContext: () => Context) {
    const texts: string[] = []
    for (const each of all) texts.push(await answer(each, createContext()))
    return texts
  }

  /** Throws where the batch as a whole is refused. */
  return async (batch: readonly unknown[], createContext: (budget: AnswerBudget) => Context): Promise<BatchAnswer> => {
    if (batch.length === 0) throw badRequest('The batch is empty')
    if (batch.length > maxRequests) throw badRequest(`A batch holds at most ${maxRequests} requests`)
    const prepared: (Prepared | RefusedRequest)[] = []
    for (const each of batch) {
      // New documents take milliseconds to validate. Others have their turn in between.
      if (prepared.length > 0) await rest()
      prepared.push(prepare(each))
    }
    let cost = 0
    for (const each of prepared) if ('cost' in each) cost += each.cost
    if (cost > maxCost) throw tooExpensive(cost, maxCost)
    const hasMutation = prepared.some((each) => 'kind' in each && each.kind === 'mutation')
    const budget = createAnswerBudget()
    const createOwn = () => createContext(budget)
    try {
      // A mutation may be about what the one before it has made.
      const texts = hasMutation
        ? await answerOneByOne(prepared, createOwn)
        : await Promise.all(prepared.map((each) => answer(each, createOwn())))
      return { text: `[${texts.join(',')}]`, hasMutation }
    } finally {
      endBudget(budget)
    }
  }
}
