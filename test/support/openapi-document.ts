/** The OpenAPI document, and checks against it. */
import { Check, Errors } from 'typebox/schema'
import { toPath } from '../../src/platform/openapi/build.ts'
import {
  type JsonSchema,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  resolveResponse,
} from '../../src/platform/openapi/document.ts'
import type { ApiOptions, Owner } from './api.ts'
import { startApiWithRoles } from './roles.ts'

export interface Described {
  /** `GET /api/posts/{id}` */
  name: string
  method: string
  path: string
  operation: Operation
}

export async function startDescribedApi(t: Owner, options: ApiOptions = {}) {
  let tree = ''
  const api = await startApiWithRoles(t, {
    ...options,
    async extend(app, parts) {
      await options.extend?.(app, parts)
      await app.after()
      tree = app.printRoutes({ commonPrefix: false })
    },
  })
  const document: OpenApiDocument = (await api.get('/openapi.json')).body
  return { ...api, document, operations: operationsOf(document), routes: readRoutes(tree) }
}

function operationsOf(document: OpenApiDocument): Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, operation]) => {
      const method = lower.toUpperCase()
      return { name: `${method} ${path}`, method, path, operation }
    }),
  )
}

/** Every method and path of the router, from its printed routes. */
export function readRoutes(tree: string): string[] {
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part, methods = ''] = /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? []
    if (part === undefined) return []
    const depth = indent.length / 4
    const path = (above[depth - 1] ?? '') + part
    above.splice(depth, above.length, path)
    return methods
      .split(', ')
      .flatMap((method) => (method === '' || method === 'HEAD' ? [] : [`${method} ${toPath(path)}`]))
  })
}

export function examplesOf({ example, examples = {} }: MediaType): unknown[] {
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
}

/** Errors of a value against a schema of the document; undocumented fields are errors too. */
export function problemsOf(document: OpenApiDocument, schema: JsonSchema, value: unknown): unknown[] {
  const whole = { ...(close(schema) as Record<string, unknown>), components: closedComponents(document) }
  return Check(whole, value) ? [] : Errors(whole, value)[1]
}

/** The same for a response of an operation. */
export function responseProblems(
  document: OpenApiDocument,
  where: { method: string; path: string },
  response: { status: number; body: unknown },
): unknown[] {
  const described = document.paths[where.path]?.[where.method.toLowerCase()]?.responses[response.status]
  if (!described) return [`${response.status} is not described`]
  const [media] = Object.values(resolveResponse(document, described).content ?? {})
  return media
    ? problemsOf(document, media.schema, response.body)
    : response.body === ''
      ? []
      : ['a body is not described']
}

const closed = new WeakMap<OpenApiDocument, unknown>()

function closedComponents(document: OpenApiDocument): unknown {
  const known = closed.get(document) ?? close(document.components)
  closed.set(document, known)
  return known
}

function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]))
  const isObject = copy.type === 'object' && 'properties' in copy
  return isObject ? { additionalProperties: false, ...copy } : copy
}
