import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../access/route-guards.ts'
import { type Client, clientOf } from '../../http/client.ts'
import type { AnswerBudget } from '../execution/answer-budget.ts'
import type { Context, ContextLog } from '../schema/elements.ts'

/** What resolvers know of a request. Most ask for little of it: it is looked up when they do. */
export class RequestContext implements Context {
  readonly request: FastifyRequest
  readonly budget: AnswerBudget | undefined

  constructor(request: FastifyRequest, budget?: AnswerBudget) {
    this.request = request
    this.budget = budget
  }

  get principal(): Principal | undefined {
    return this.request.principal
  }

  get client(): Client {
    return clientOf(this.request)
  }

  get log(): ContextLog {
    return this.request.log
  }
}
