/** Writes of several collections in one transaction. */
import type { FastifyInstance } from 'fastify'
import { actorOf } from '../../collections/actor.ts'
import { type BatchDeps, createBatch, maxOperations, type Operation, withOperation } from '../../collections/batch.ts'
import { AppError } from '../../core/app-error.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'

const methods = ['POST', 'PATCH', 'PUT', 'DELETE']

const Body = Type.Object({
  operations: Type.Array(
    Type.Object({
      method: Type.Union(methods.map((method) => Type.Literal(method))),
      path: Type.String({ description: 'Of a collection, a row, or `/restore` of a row.' }),
      body: Type.Optional(
        Type.Unknown({ description: '`{"$ref": "0.data.id"}` is the ID that an earlier operation created.' }),
      ),
      if_match: Type.Optional(Type.String({ description: 'The ETag that the row must have.' })),
    }),
    { maxItems: maxOperations },
  ),
})

const Results = Type.Object(
  {
    results: Type.Array(Type.Object({ status: Type.Integer(), body: Type.Unknown() })),
  },
  { title: 'BatchResults' },
)

const docs: RouteDocs = {
  tag: { name: 'Batch', description: 'Several writes in one transaction.' },
  operationId: 'batch',
  summary: 'Write several rows at once',
  description:
    'Up to 100 writes to any collections in one transaction, all or nothing. If an operation is rejected, the response has its ' +
    'status and body, and its index as `operation`.',
  body: {
    schema: Body,
    example: { operations: [{ method: 'POST', path: '/api/notes', body: { title: 'Hello' } }] },
  },
  responses: { 200: response(Results, { results: [{ status: 204, body: null }] }) },
  errors: [
    httpErrors.forbidden(),
    httpErrors.notFound(),
    new AppError(409, 'Is still referred to'),
    new AppError(412, 'Note has changed'),
    validationFailed({ title: ['Must not be blank'] }),
  ].map((error) => withOperation(error, 0)),
  access: 'what each operation requires',
}

export function addBatchRoutes(app: FastifyInstance, deps: BatchDeps): void {
  const batch = createBatch(deps)
  // Each operation has requirements of its own, as on the route that it names.
  app.post('/api/batch', { config: { access: ['authenticated', { keyPermission: null }], docs } }, async (request) => ({
    results: await batch.run(readOperations(request.body), actorOf(request.principal)),
  }))
}

function readOperations(body: unknown): Operation[] {
  const { operations } = (typeof body === 'object' && body !== null ? body : {}) as { operations?: unknown }
  if (!Array.isArray(operations)) throw validationFailed({ operations: ['Must be a list'] })
  if (operations.length > maxOperations) {
    throw validationFailed({ operations: [`Must have at most ${maxOperations} items`] })
  }
  const details: Record<string, string[]> = {}
  for (const [i, operation] of operations.entries()) {
    const { method, path, if_match } = (operation ?? {}) as Partial<Operation>
    if (!methods.includes(method as string))
      details[`operations.${i}.method`] = [`Must be one of ${methods.join(', ')}`]
    if (typeof path !== 'string') details[`operations.${i}.path`] = ['Must be a string']
    if (if_match !== undefined && typeof if_match !== 'string')
      details[`operations.${i}.if_match`] = ['Must be a string']
  }
  if (Object.keys(details).length > 0) throw validationFailed(details)
  return operations as Operation[]
}
