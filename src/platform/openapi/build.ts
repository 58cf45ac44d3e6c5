/** Builds the OpenAPI document from the routes. */
import type { RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import type { KeyRules } from '../access/program-keys.ts'
import type { Requirement } from '../access/route-guards.ts'
import type { OpenApiDocument } from './document.ts'
import { createErrorResponses } from './error-responses.ts'
import { type DescribedRoute, describeOperation } from './operation.ts'
import { otherTag, type RouteDocs, type Tag } from './route-docs.ts'
import { createSchemas } from './schemas.ts'

export interface BuildOptions {
  version: string
  publicUrl: string | undefined
  requirementsOf(route: RouteOptions): readonly Requirement[]
  keys?: KeyRules | undefined
}

export interface AddedRoute {
  /** Captured when the route was added, because Fastify changes it later for the variant with a trailing slash. */
  url: string
  route: RouteOptions
}

/** For operators. Always the last tag. */
export const serviceTag = { name: 'Service', description: 'For those who run the service, and their machines.' }

export function buildDocument(routes: readonly AddedRoute[], options: BuildOptions): OpenApiDocument {
  const { version, publicUrl } = options
  const schemas = createSchemas()
  const errors = createErrorResponses(schemas)
  const paths: OpenApiDocument['paths'] = {}
  const tags = new Map<string, Tag | { name: string }>()
  for (const route of selectRoutes(routes, options)) {
    const operation = describeOperation(route, { schemas, errors })
    const path = paths[route.path] ?? {}
    path[route.method.toLowerCase()] = operation
    paths[route.path] = path
    const { tag = otherTag } = route.docs ?? {}
    if (typeof tag === 'object') tags.set(tag.name, tag)
    else if (!tags.has(tag)) tags.set(tag, { name: tag })
  }
  if (tags.delete(serviceTag.name)) tags.set(serviceTag.name, serviceTag)
  return {
    openapi: '3.1.0',
    info: { title: 'Latchkey', version, description: conventions, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [publicUrl === undefined ? sameServer : { url: publicUrl }],
    tags: [...tags.values()],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: bearerTokens } },
      schemas: schemas.components,
      responses: errors.components,
    },
  }
}

/** Clients resolve it against the URL of the document. */
const sameServer = { url: '/', description: 'Where this description comes from.' }

function selectRoutes(routes: readonly AddedRoute[], { requirementsOf, keys }: BuildOptions): DescribedRoute[] {
  const described = routes.flatMap(({ url, route }) => {
    const docs = route.config?.docs
    // Fastify plugins mark undocumented routes with `hide`.
    const schema = route.schema as { body?: TSchema; hide?: boolean } | undefined
    if (docs === false || schema?.hide) return []
    const shared = { path: toPath(url), requirements: requirementsOf(route), body: schema?.body }
    return methodsOf(route).map((method) => ({
      ...shared,
      method,
      docs: docs as RouteDocs | undefined,
      isClosedToKeys: keys?.mayReach({ method, path: url }) === false,
    }))
  })
  const names = new Set(described.map(nameOf))
  // A path with a trailing slash is the same endpoint as the one without.
  return described.filter((route) => !(route.path.endsWith('/') && names.has(nameOf(route).slice(0, -1))))
}

/** Without HEAD, which Fastify derives from GET. */
const describable = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

function methodsOf({ method }: RouteOptions): string[] {
  return [method].flat().filter((each) => describable.includes(each))
}

function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`
}

/** Converts `/users/:id` and `/files/*` to OpenAPI's path templates. `::` is an escaped colon. */
export function toPath(url: string): string {
  const path = url
    .replace(/(?<!:):(\w+)(\([^/]*\))?\??/g, '{$1}')
    .replaceAll('::', ':')
    .replace(/\*$/, '{wildcard}')
  return path.startsWith('/') ? path : `/${path}`
}

const bearerTokens =
  'The access token of a login (a JWT), or an API key of a user (`lk_…`). A key acts as its owner, with what both may. ' +
  'Endpoints for users in person refuse it with 403.'

const conventions = [
  'Requests and answers are JSON; a request body may be a form too.',
  'Endpoints that ask for it take the access token of a login, or an API key, in the header `Authorization: Bearer <token>`.',
  'Every error is a body with the text `error`, which is stable, beside `details` or `locked_until` where they help.',
  'Every answer carries `x-request-id`, which the log has too.',
  'It also says by `Cache-Control` whether a cache may keep it.',
  'A path that does not exist answers 404, a method that a path does not have 405 with the header `Allow`.',
].join(' ')
