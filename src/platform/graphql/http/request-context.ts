import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../access/route-guards.ts'
import { type Client, clientOf } from '../../http/client.ts'
import type { ResponseBudget } from '../execution/response-budget.types.ts'
import type { Context, ContextLog } from '../schema/elements.ts'

/** Getters, because most resolvers need little of it. */
export class RequestContext implements Context {
  readonly request: FastifyRequest
  readonly budget: ResponseBudget | undefined

  constructor(request: FastifyRequest, budget?: ResponseBudget) {
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
