import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../http/access.ts'
import { type Client, clientOf } from '../../http/client.ts'
import type { Context, ContextLog } from '../elements.ts'

/** What resolvers know of a request. Most ask for little of it: it is looked up when they do. */
export class RequestContext implements Context {
  readonly request: FastifyRequest

  constructor(request: FastifyRequest) {
    this.request = request
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
