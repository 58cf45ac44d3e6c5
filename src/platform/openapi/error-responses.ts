/** Documents error responses. Texts, bodies and headers come from the same AppError factories that handlers throw. */
import type { TObject, TSchema } from 'typebox'
import type { AppError } from '../../core/app-error.ts'
import { impliedKeyPermission, isOpen } from '../access/authorize.ts'
import { type Requirement, safeMethods } from '../access/route-guards.ts'
import { httpErrors } from '../http/http-errors.ts'
import { STATUS_CODES } from '../http/node-http.ts'
import { compileBody, validationFailed } from '../validation/body-validation.ts'
import { Type } from '../validation/schema-builder.ts'
import { type JsonSchema, type Reference, type ResponseObject, responsePath } from './document.ts'
import { unixSeconds } from './route-docs.ts'
import { type Schemas, toPascalCase } from './schemas.ts'

const text = Type.String({ description: 'Stable: it is part of the API.' })
const PlainError = Type.Object({ error: text }, { title: 'ErrorBody' })
const DetailedError = Type.Object(
  {
    error: text,
    details: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'What is wrong, by field.' }),
  },
  { title: 'DetailedErrorBody' },
)
const LockedError = Type.Object(
  { error: text, locked_until: Type.Integer({ ...unixSeconds, description: 'When the lock ends, in Unix seconds.' }) },
  { title: 'LockedErrorBody' },
)

const BatchError = Type.Object(
  {
    error: text,
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), { description: 'What is wrong, by field.' }),
    ),
    operation: Type.Optional(Type.Integer({ minimum: 0, description: 'The index of the rejected operation.' })),
  },
  { title: 'BatchErrorBody' },
)

const headersByName: Readonly<Record<string, { description: string; schema: JsonSchema }>> = {
  'retry-after': { description: 'After how many seconds to try again.', schema: { type: 'integer', minimum: 1 } },
  allow: { description: 'The methods that the path has.', schema: { type: 'string' } },
  'www-authenticate': {
    description: '`Bearer`, with `error="invalid_token"` where an access token was sent and is not good.',
    schema: { type: 'string' },
  },
}

export interface ErrorSource {
  method: string
  requirements: readonly Requirement[]
  path: string
  body: TSchema | undefined
  hasBody: boolean
  isClosedToKeys: boolean
  /** The errors that the route documents itself. */
  own: readonly AppError[]
}

/** All errors of a route: its own, and those that follow from its access, path and body. */
export function errorsOf({ method, requirements, path, body, hasBody, isClosedToKeys, own }: ErrorSource): AppError[] {
  const isGuarded = !requirements.every(isOpen)
  const isChecked =
    requirements.some((each) => typeof each === 'object' && !isOpen(each)) ||
    impliedKeyPermission(requirements, !safeMethods.includes(method)) !== null
  const ownStatuses = new Set(own.map(({ status }) => status))
  return [
    ...own,
    ...(isGuarded ? [httpErrors.missingToken(), httpErrors.invalidToken()] : []),
    ...(isChecked || isClosedToKeys ? [httpErrors.forbidden()] : []),
    // A 404 of the route's own is more specific.
    ...(path.includes('{') && !ownStatuses.has(404) ? [httpErrors.notFound()] : []),
    ...(hasBody ? [httpErrors.malformedBody(), httpErrors.bodyTooLarge(), httpErrors.unsupportedMediaType()] : []),
    ...(body ? [breakBody(body)] : []),
    // Any request can fail before it is routed: malformed HTTP, a timeout, too many headers.
    httpErrors.malformedRequest(),
    httpErrors.requestTimeout(),
    httpErrors.headersTooLarge(),
    httpErrors.internal(undefined),
    ...(ownStatuses.has(503) ? [] : [httpErrors.unavailable()]),
  ]
}

/** The actual validation error for an empty body or, if that is valid, for fields of a wrong type. */
function breakBody(schema: TSchema): AppError {
  const generic = validationFailed({ field: ['Must not be blank'] })
  const { properties } = schema as Partial<TObject>
  if (!properties) return generic
  try {
    const check = compileBody(schema as TObject)
    for (const body of [{}, Object.fromEntries(Object.keys(properties).map((name) => [name, {}]))]) {
      const outcome = check(body)
      if ('error' in outcome) return outcome.error
    }
  } catch {
    // A schema for the custom validator of a plugin.
  }
  return generic
}

export function createErrorResponses(schemas: Schemas) {
  const components: Record<string, ResponseObject> = {}

  function respond(errors: readonly AppError[]): ResponseObject | Reference {
    const response = describe(errors)
    // The fields of a 422 differ between routes, as do those of a batch; every other response is a shared component.
    if (errors.some(({ status, extra = {} }) => status === 422 || 'operation' in extra)) return response
    const name = [...new Set(errors.map(({ message }) => toPascalCase(message)))].join('Or')
    components[name] ??= response
    return { $ref: responsePath + name }
  }

  function describe(errors: readonly AppError[]): ResponseObject {
    const [{ status }] = errors as [AppError]
    const variants = new Set(errors.map(schemaOf))
    const headers = new Set(errors.flatMap((error) => Object.keys(error.headers ?? {})))
    if (status === 401) headers.add('www-authenticate')
    const examples = errors.map((error) => ({ value: { error: error.message, ...error.extra } }))
    const [only, ...more] = [...variants].map((schema) => schemas.describe(schema))
    return {
      description: `${STATUS_CODES[status]}.`,
      ...(headers.size > 0 && {
        headers: Object.fromEntries(
          [...headers].map((name) => [name, headersByName[name] ?? { schema: { type: 'string' } }]),
        ),
      }),
      content: {
        'application/json': {
          schema: more.length > 0 || !only ? { anyOf: [only ?? {}, ...more] } : only,
          examples: Object.fromEntries(examples.map((example, i) => [nameOf(errors, i), example])),
        },
      },
    }
  }

  return {
    components,
    byStatus(errors: readonly AppError[]): Record<string, ResponseObject | Reference> {
      const groups = Map.groupBy(errors, ({ status }) => status)
      return Object.fromEntries([...groups].map(([status, group]) => [String(status), respond(group)]))
    },
  }
}

function schemaOf({ extra = {} }: AppError): TSchema {
  if ('locked_until' in extra) return LockedError
  if ('operation' in extra) return BatchError
  return 'details' in extra ? DetailedError : PlainError
}

/** Numbered, because two errors of one status may share a text. */
function nameOf(errors: readonly AppError[], index: number): string {
  const name = toPascalCase(errors[index]?.message ?? '')
  const earlier = errors.slice(0, index).filter(({ message }) => toPascalCase(message) === name).length
  return earlier === 0 ? name : `${name}${earlier + 1}`
}
