/**
 * Checks the keywords that plain-values.ts does not support (enum, pattern, format, const, unions, …) with Ajv, in the
 * API's wording. Loaded on demand, because it takes 30 ms and none of the service's own schemas needs it.
 */
import { createRequire } from 'node:module'
import type { Ajv, ErrorObject } from 'ajv'
import { isStorable } from '../../core/text.ts'
import { descriptiveFormats, type Property } from './schema-property.ts'

export interface Refusal {
  /** Relative to the value: `0.kind`. */
  path: string
  message: string
}

let ajv: Ajv | undefined

/** Throws on an unknown keyword. */
export function compileByAjv(schema: Property): (value: unknown) => Refusal | undefined {
  ajv ??= createAjv()
  const validate = ajv.compile(schema)
  return (value) => {
    if (!validate(value)) return describe(validate.errors as ErrorObject[])
    return areTextsStorable(value) ? undefined : { path: '', message: 'Must be valid text' }
  }
}

function createAjv(): Ajv {
  const require = createRequire(import.meta.url)
  const { Ajv } = require('ajv') as typeof import('ajv')
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats')
  const created = new Ajv({ strict: true, allowUnionTypes: true })
  // The package is CommonJS, but its types declare an ES module.
  ;(addFormats as unknown as (ajv: Ajv) => void)(created)
  for (const format of descriptiveFormats) created.addFormat(format as string, true)
  return created
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

const messages: Readonly<Record<string, (params: Record<string, unknown>) => string>> = {
  type: ({ type }) =>
    `Must be ${[type]
      .flat()
      .map((each) => typeNames[String(each)] ?? each)
      .join(' or ')}`,
  required: () => 'Must not be blank',
  enum: ({ allowedValues }) => `Must be one of ${(allowedValues as unknown[]).join(', ')}`,
  const: ({ allowedValue }) => `Must be ${String(allowedValue)}`,
  pattern: ({ pattern }) => `Must match the pattern ${String(pattern)}`,
  format: ({ format }) => (format === 'email' ? 'Must be a valid email address' : `Must be a valid ${String(format)}`),
  minLength: ({ limit }) => `Must be at least ${String(limit)} characters`,
  maxLength: ({ limit }) => `Must be at most ${String(limit)} characters`,
  minimum: ({ limit }) => `Must be at least ${String(limit)}`,
  maximum: ({ limit }) => `Must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `Must be more than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `Must be less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `Must be a multiple of ${String(multipleOf)}`,
  minItems: ({ limit }) => `Must have at least ${countItems(limit)}`,
  maxItems: ({ limit }) => `Must have at most ${countItems(limit)}`,
  uniqueItems: () => 'Must not have an item twice',
  additionalProperties: () => 'Is not known',
}

export function countItems(limit: unknown): string {
  return limit === 1 ? '1 item' : `${String(limit)} items`
}

/** For a union, Ajv lists the errors of every variant first; the last error is about the union itself. */
function describe(errors: readonly ErrorObject[]): Refusal {
  const error = errors.at(-1) as ErrorObject
  const params = error.params as Record<string, unknown>
  const names = error.instancePath.split('/').slice(1)
  const inner = params.missingProperty ?? params.additionalProperty
  const path = [...names, ...(typeof inner === 'string' ? [inner] : [])].join('.')
  return { path, message: messages[error.keyword]?.(params) ?? 'Has none of the forms that it may have' }
}

function areTextsStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(areTextsStorable)
}
