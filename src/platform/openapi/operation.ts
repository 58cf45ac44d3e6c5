/** Builds one OpenAPI operation from a route and its `config.docs`. */
import type { TSchema } from 'typebox'
import { impliedKeyPermission, isOpen, isTokenOptional } from '../access/authorize.ts'
import { type Requirement, safeMethods } from '../access/route-guards.ts'
import { STATUS_CODES } from '../http/node-http.ts'
import type { JsonSchema, MediaType, Operation, Parameter, ResponseObject } from './document.ts'
import { type createErrorResponses, errorsOf } from './error-responses.ts'
import { otherTag, type ResponseDocs, type RouteDocs } from './route-docs.ts'
import { mapValues, type Schemas, toPascalCase } from './schemas.ts'

export interface DescribedRoute {
  method: string
  /** With its parameters in braces. */
  path: string
  docs: RouteDocs | undefined
  requirements: readonly Requirement[]
  /** The schema that validates its bodies. */
  body: TSchema | undefined
  /** For users in person, not for keys of programs. */
  isClosedToKeys: boolean
}

export interface Parts {
  schemas: Schemas
  errors: ReturnType<typeof createErrorResponses>
}

const bodyTypes = ['application/json', 'application/x-www-form-urlencoded']

export function describeOperation(route: DescribedRoute, { schemas, errors }: Parts): Operation {
  const { method, path, docs, requirements } = route
  const operationId = docs?.operationId ?? method.toLowerCase() + toPascalCase(path)
  const tag = docs?.tag ?? otherTag
  const parameters = describeParameters(route, schemas)
  const requestBody = describeBody(route, schemas, `${toPascalCase(operationId)}Body`)
  return {
    operationId,
    tags: [typeof tag === 'string' ? tag : tag.name],
    summary: docs?.summary ?? `${method} ${path}`,
    ...(docs?.description !== undefined && { description: docs.description }),
    'x-access': docs?.access ?? describeAccess(route),
    security: securityOf(requirements),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      ...describeResponses(docs, schemas),
      ...errors.byStatus(errorsOf({ ...route, hasBody: requestBody !== undefined, own: docs?.errors ?? [] })),
    },
  }
}

function describeAccess({ method, requirements, isClosedToKeys }: DescribedRoute): string {
  const holders = new Set(requirements.flatMap((each) => nameOf(each) ?? []))
  const users = holders.size > 0 ? `users ${[...holders].join(' and ')}` : undefined
  const who = users ?? (requirements.includes('authenticated') ? 'any signed-in user' : 'anyone')
  const declared = requirements.flatMap((each) =>
    typeof each === 'object' && 'keyPermission' in each ? [each.keyPermission] : [],
  )
  const implied = impliedKeyPermission(requirements, !safeMethods.includes(method))
  const needed = [...declared, implied].filter((each) => each !== null)
  if (needed.length === 0 || isClosedToKeys) return who
  const isOptional = requirements.some((each) => typeof each === 'object' && 'isOptional' in each)
  const isPublicToo = isTokenOptional(requirements) && implied !== null && safeMethods.includes(method)
  const unless = isOptional || isPublicToo ? ', unless anyone may' : ''
  return `${who}; an API key with a list of permissions also needs ${needed.join(' and ')}${unless}`
}

function nameOf(requirement: Requirement): string | undefined {
  if (typeof requirement !== 'object' || 'keyPermission' in requirement) return undefined
  if ('role' in requirement) return `with the role ${requirement.role}`
  if ('permission' in requirement) return `with the permission ${requirement.permission}`
  return `whom the policy ${requirement.policy} allows to ${requirement.action}`
}

function securityOf(requirements: readonly Requirement[]): Record<string, string[]>[] {
  if (requirements.every(isOpen)) return []
  return [...(isTokenOptional(requirements) ? [{}] : []), { bearer: [] }]
}

function describeParameters({ path, docs }: DescribedRoute, schemas: Schemas): Parameter[] {
  const names = path
    .split('{')
    .slice(1)
    .map((part) => part.slice(0, part.indexOf('}')))
  const inPath = names.map((name) => [name, docs?.params?.[name]] as const)
  const toParameter = (place: Parameter['in'], name: string, given: TSchema | undefined): Parameter => {
    const { description, ...schema }: JsonSchema = given ? schemas.describe(given) : { type: 'string' }
    return { name, in: place, required: place === 'path', ...(description !== undefined && { description }), schema }
  }
  return [
    ...inPath.map(([name, schema]) => toParameter('path', name, schema)),
    ...Object.entries(docs?.query ?? {}).map(([name, schema]) => toParameter('query', name, schema)),
    ...Object.entries(docs?.headers ?? {}).map(([name, schema]) => toParameter('header', name, schema)),
  ]
}

function describeBody(route: DescribedRoute, schemas: Schemas, name: string) {
  const docs = route.docs?.body
  const given = route.body ?? docs?.schema
  if (!given) return undefined
  // Not shared by its title: the route may add descriptions to the fields.
  const { title = name, ...untitled } = given as JsonSchema
  const schema = withFields(schemas.describe(untitled), docs?.fields ?? {})
  const media: MediaType = { schema: schemas.refer({ title, ...schema }), ...(docs && { example: docs.example }) }
  const required = schema.type !== 'object' || (schema.required ?? []).length > 0
  return { required, content: Object.fromEntries((docs?.types ?? bodyTypes).map((type) => [type, media])) }
}

function withFields(schema: JsonSchema, fields: Readonly<Record<string, string>>): JsonSchema {
  if (!schema.properties) return schema
  const properties = Object.entries(schema.properties).map(([name, { default: preset, ...property }]) => {
    const described = [fields[name], property.description, describeDefault(preset)].filter(Boolean).join(' ')
    return [name, described === '' ? property : { ...property, description: described }]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** In the description, because client generators treat a field with the keyword `default` as required. */
function describeDefault(preset: unknown): string | undefined {
  return preset === undefined || preset === '' ? undefined : `Default: \`${JSON.stringify(preset)}\`.`
}

function describeResponses(docs: RouteDocs | undefined, schemas: Schemas): Record<string, ResponseObject> {
  if (!docs) return { '2XX': { description: 'Success.' } }
  return Object.fromEntries(
    Object.entries(docs.responses).map(([status, given]) => [status, describeResponse(Number(status), given, schemas)]),
  )
}

function describeResponse(status: number, given: ResponseDocs, schemas: Schemas): ResponseObject {
  const { description, schema, examples = {}, headers, type = 'application/json' } = given
  const [only, ...more] = Object.values(examples)
  return {
    description: description ?? `${STATUS_CODES[status]}.`,
    ...(headers && { headers: mapValues(headers, (header) => describeHeader(schemas.describe(header))) }),
    ...(schema && {
      content: {
        [type]: {
          schema: schemas.describe(schema),
          ...(more.length > 0 ? { examples: mapValues(examples, (value) => ({ value })) } : { example: only }),
        },
      },
    }),
  }
}

function describeHeader({ description, ...schema }: JsonSchema) {
  return { ...(description !== undefined && { description }), schema }
}
