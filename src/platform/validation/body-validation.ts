/**
 * Validates bodies, with the API's messages. The same schema documents and validates a body; what JSON Schema cannot
 * express is checked by `x-check`.
 */
import type { TObject } from 'typebox'
import { AppError } from '../../core/app-error.ts'
import { compileObject } from './compile-schema.ts'
import { Problems } from './problems.ts'
import { Type, type Validated } from './schema-builder.ts'
import type { Property } from './schema-property.ts'

export type BodyValidator<Body = unknown> = (body: unknown) => { value: Body } | { error: AppError }

declare module 'fastify' {
  /** Handlers get what their route's schemas say, without naming it. */
  interface FastifyTypeProviderDefault {
    validator: this['schema'] extends TObject ? Validated<this['schema']> : unknown
  }
}

/** A string; missing and null count as empty. */
export const OrEmpty = Type.String({ 'x-or-empty': true })

const formBodies = new WeakSet<object>()

/** In forms, numbers and booleans are parsed from text. */
export function markAsForm<T extends object>(body: T): T {
  formBodies.add(body)
  return body
}

export function isForm(body: object): boolean {
  return formBodies.has(body)
}

const exactNumbers = new WeakMap<object, ReadonlyMap<string, string>>()

/** The original text of numbers that a float may not represent exactly, by field. */
export function rememberExactNumbers(body: object, numbers: ReadonlyMap<string, string>): void {
  exactNumbers.set(body, numbers)
}

export function exactNumbersOf(body: object): ReadonlyMap<string, string> | undefined {
  return exactNumbers.get(body)
}

export function validationFailed(details: Record<string, string[]>): AppError {
  return new AppError(422, 'Validation failed', { extra: { details } })
}

/** All validation messages in one line. Undefined if there are none. */
export function describeDetails({ extra }: AppError): string | undefined {
  const details = Object.entries((extra?.details ?? {}) as Record<string, string[]>)
  const lines = details.map(([field, messages]) => `${field}: ${messages.join('; ')}`)
  return lines.length > 0 ? lines.join('; ') : undefined
}

export function compileBody<Schema extends TObject>(schema: Schema): BodyValidator<Validated<Schema>> {
  const read = compileObject(schema as Property, '')
  return (body) => {
    const given = (body ?? {}) as Record<string, unknown>
    const problems = new Problems()
    const value = read(given, { isForm: formBodies.has(given), written: exactNumbers.get(given), problems }, '')
    return problems.details ? { error: validationFailed(problems.details) } : { value: value as Validated<Schema> }
  }
}

/** For path and query parameters, which are text as in a form. */
export function compileTexts<Schema extends TObject>(schema: Schema): BodyValidator<Validated<Schema>> {
  const validate = compileBody(schema)
  return (given) => validate(markAsForm({ ...(given as object) }))
}

/** Validates input other than request bodies. Throws the validation error. */
export function requireValid<Body>(validate: BodyValidator<Body>, given: object): Body {
  const outcome = validate(given)
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
