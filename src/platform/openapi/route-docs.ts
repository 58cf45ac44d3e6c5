/**
 * How a route describes itself: as data in its `config.docs`. What can be told from the route alone (its body, who may
 * use it, the errors that follow from both) is not said again.
 */
import type { Static, TSchema } from 'typebox'
import type { AppError } from '../../core/app-error.ts'
import { Type } from '../validation/schema-builder.ts'

/** A chapter of the description. */
export interface Tag {
  name: string
  description: string
}

export interface RouteDocs {
  /**
   * What generated clients call it, such as `listProducts`: a verb, then what it is about. Once published it stays. Made
   * of method and path where it is left out.
   */
  operationId?: string
  /** What it does, in a few words. */
  summary: string
  description?: string
  /** The chapter that it stands in. */
  tag: string | Tag
  /** The responses of success, by status. */
  responses: Readonly<Record<number, AnswerDocs>>
  /** The parts of the path that vary. One that is left out is described as a text. */
  params?: Readonly<Record<string, TSchema>>
  /** None of them is required. */
  query?: Readonly<Record<string, TSchema>>
  /** Request headers that it looks at. */
  headers?: Readonly<Record<string, TSchema>>
  body?: BodyDocs
  /** Who may use it, in words, where the route looks at more than its requirements say. */
  access?: string
  /** What it refuses on its own account. Errors that follow from its body, its access or its path come by themselves. */
  errors?: readonly AppError[]
}

/** The chapter of routes that name none. */
export const otherTag = 'Other'

export interface AnswerDocs {
  description?: string
  /** None where there is no body. */
  schema?: TSchema
  /** By name; a single one needs none that says much. */
  examples?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, TSchema>>
  /** The media type, where it is not JSON. */
  type?: string
}

export interface BodyDocs {
  /** Must pass the route's own validation. */
  example: unknown
  /** What there is to say of a field beside its rules. */
  fields?: Readonly<Record<string, string>>
  /** Only for a body that is neither JSON nor a form, and so has no schema in its route. */
  schema?: TSchema
  types?: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False leaves the route out of the description of the API. */
    docs?: RouteDocs | false
  }
}

/** A response with one example, which the compiler holds to its schema. */
export function response<Schema extends TSchema>(
  schema: Schema,
  example: Static<Schema>,
  more: Pick<AnswerDocs, 'description' | 'headers' | 'type'> = {},
): AnswerDocs {
  return { schema, examples: { example }, ...more }
}

export const noContent: AnswerDocs = { description: 'Done. There is no body.' }

/** A response with a message and nothing else. */
export function messageResponse(message: string): AnswerDocs {
  return response(Message, { message })
}

const Message = Type.Object({ message: Type.String() }, { title: 'Message' })

/** The id of a row, as a part of a path. */
export const Id = Type.Integer({ format: 'int64', minimum: 1, examples: [1] })

/** Seconds since 1970. */
export const unixSeconds = { format: 'int64' }

export const Email = Type.String({ format: 'email', maxLength: 255 })

export const DateTime = Type.String({ format: 'date-time' })
