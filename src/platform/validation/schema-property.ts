import type { TSchema } from 'typebox'

/** Returns the problems of a text. */
export type Check = (value: string) => string[]

/** The supported keywords of JSON Schema, and our extensions. */
export interface Property extends TSchema {
  type?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  items?: Property
  properties?: Record<string, Property>
  required?: string[]
  additionalProperties?: unknown
  default?: unknown
  /** Refuses white space; an optional field may still be missing or null. */
  'x-not-blank'?: boolean
  /** Missing and null count as an empty string. */
  'x-or-empty'?: boolean
  /** Rounds half up to so many decimals, by the digits as written. */
  'x-decimals'?: number
  'x-check'?: Check
}

/** Keywords for documentation only. */
export const descriptive = ['title', 'description', 'examples', 'example', 'default', 'deprecated', 'readOnly', '$id']

/** Number formats, which tell clients how many bits to use. */
export const descriptiveFormats: readonly unknown[] = ['int32', 'int64', 'float', 'double']
