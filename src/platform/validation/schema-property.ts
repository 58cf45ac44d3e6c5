import type { TSchema } from 'typebox'

/** Returns what is wrong with a value that has passed the schema's own rules. */
export type Check = (value: string) => string[]

/** As much of JSON Schema as the rules of our own look at, and what it cannot say. */
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
  /** Missing, null and white space are refused. */
  'x-not-blank'?: boolean
  /** Missing and null are fine, white space is not. */
  'x-not-blank-if-given'?: boolean
  /** Missing and null stand for an empty string. */
  'x-or-empty'?: boolean
  /** A number is rounded half up to so many places, as it was written. */
  'x-decimals'?: number
  'x-check'?: Check
}

/** Says something to readers, nothing to be checked. */
export const descriptive = ['title', 'description', 'examples', 'example', 'default', 'deprecated', 'readOnly', '$id']

/** Of numbers: how many bits a client may need for them. */
export const descriptiveFormats: readonly unknown[] = ['int32', 'int64', 'float', 'double']
