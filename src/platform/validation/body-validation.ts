/**
 * Checks bodies against their schema and says what is wrong in the words of the API. The schema that describes a body
 * is the one that checks it; what a schema cannot say, `x-check` does.
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

/** A text for which missing and null stand for an empty one. */
export const OrEmpty = Type.String({ 'x-or-empty': true })

const formBodies = new WeakSet<object>()

/** In a form everything is text: numbers and booleans are read from it. */
export function markAsForm<T extends object>(body: T): T {
  formBodies.add(body)
  return body
}

const exactNumbers = new WeakMap<object, ReadonlyMap<string, string>>()

/** For numbers that a float may not hold: how they were written, by field. */
export function rememberExactNumbers(body: object, numbers: ReadonlyMap<string, string>): void {
  exactNumbers.set(body, numbers)
}

export function exactNumbersOf(body: object): ReadonlyMap<string, string> | undefined {
  return exactNumbers.get(body)
}

export function validationFailed(details: Record<string, string[]>): AppError {
  return new AppError(422, 'Validation failed', { extra: { details } })
}

/** What is wrong, field by field, in one line for a person. Undefined where no field is to blame. */
export function describeDetails({ extra }: AppError): string | undefined {
  const details = Object.entries((extra?.details ?? {}) as Record<string, string[]>)
  const told = details.map(([field, messages]) => `${field}: ${messages.join('; ')}`)
  return told.length > 0 ? told.join('; ') : undefined
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

/** For the parameters of a path or of a query: they are texts, as in a form. */
export function compileTexts<Schema extends TObject>(schema: Schema): BodyValidator<Validated<Schema>> {
  const validate = compileBody(schema)
  return (given) => validate(markAsForm({ ...(given as object) }))
}

/** For what does not come as the body of a request. Throws what is wrong with it. */
export function requireValid<Body>(validate: BodyValidator<Body>, given: object): Body {
  const outcome = validate(given)
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
