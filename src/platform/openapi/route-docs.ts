/**
 * The documentation of a route, as data in its `config.docs`. The body, the access and the errors that follow from both are
 * derived from the route itself.
 */
import type { Static, TSchema } from 'typebox'
import type { AppError } from '../../core/app-error.ts'
import { Type } from '../validation/schema-builder.ts'

/** An OpenAPI tag: a chapter of the description. */
export interface Tag {
  name: string
  description: string
}

export interface RouteDocs {
  /**
   * The method name in generated clients, a verb and a noun such as `listProducts`. Must not change once published.
   * Defaults to a name made from method and path.
   */
  operationId?: string
  /** A few words. */
  summary: string
  description?: string
  tag: string | Tag
  /** Success responses, by status. */
  responses: Readonly<Record<number, ResponseDocs>>
  /** Path parameters. Omitted ones are described as strings. */
  params?: Readonly<Record<string, TSchema>>
  /** All optional. */
  query?: Readonly<Record<string, TSchema>>
  /** Request headers that it reads. */
  headers?: Readonly<Record<string, TSchema>>
  body?: BodyDocs
  /** Who may use it, if the handler checks more than the requirements. */
  access?: string
  /** Errors that the handler throws. Those that follow from body, access and path are added automatically. */
  errors?: readonly AppError[]
}

/** For routes without a tag. */
export const otherTag = 'Other'

export interface ResponseDocs {
  description?: string
  /** Absent if there is no body. */
  schema?: TSchema
  /** By name. The name of a single example is not shown. */
  examples?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, TSchema>>
  /** The media type; JSON by default. */
  type?: string
}

export interface BodyDocs {
  /** Must pass the route's own validation. */
  example: unknown
  /** Descriptions of fields, in addition to their rules. */
  fields?: Readonly<Record<string, string>>
  /** Only for a body that is neither JSON nor a form, whose route therefore has no schema. */
  schema?: TSchema
  types?: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False omits the route from the API description. */
    docs?: RouteDocs | false
  }
}

/** A response with one example, which is type-checked against its schema. */
export function response<Schema extends TSchema>(
  schema: Schema,
  example: Static<Schema>,
  more: Pick<ResponseDocs, 'description' | 'headers' | 'type'> = {},
): ResponseDocs {
  return { schema, examples: { example }, ...more }
}

export const noContent: ResponseDocs = { description: 'Done. There is no body.' }

/** A response with only a message. */
export function messageResponse(message: string): ResponseDocs {
  return response(Message, { message })
}

const Message = Type.Object({ message: Type.String() }, { title: 'Message' })

export const Id = Type.Integer({ format: 'int64', minimum: 1, examples: [1] })

/** Seconds since 1970. */
export const unixSeconds = { format: 'int64' }

export const Email = Type.String({ format: 'email', maxLength: 255 })

export const DateTime = Type.String({ format: 'date-time' })
