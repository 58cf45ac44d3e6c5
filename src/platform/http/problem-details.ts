/** Errors as RFC 9457 has them, for clients that ask for `application/problem+json`. */
import Negotiator from 'negotiator'
import type { AppError } from '../../core/app-error.ts'

export const problemType = 'application/problem+json'

/**
 * Whether a client names the type among those that it takes: one that lists it beside `application/json` means that
 * errors may come so. Who takes everything is given what everybody is given.
 */
export function takesProblems(accept: string | undefined): boolean {
  // Most clients do not: no list is read for them.
  if (!accept || !/problem\+json/i.test(accept)) return false
  const types = new Negotiator({ headers: { accept } }).mediaTypes()
  return types.some((type) => type.toLowerCase() === problemType)
}

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: string
  /** What is wrong with which part of the body, as a JSON pointer. */
  errors?: { pointer: string; detail: string }[]
  [extension: string]: unknown
}

export function toProblem({ status, code, message, extra = {} }: AppError): Problem {
  const { details, ...others } = extra
  const errors = Object.entries((details ?? {}) as Record<string, string[]>).flatMap(([path, problems]) =>
    problems.map((detail) => ({ pointer: toPointer(path), detail })),
  )
  return {
    type: `urn:latchkey:error:${code}`,
    title: message,
    status,
    detail: errors.length > 0 ? `${message}: ${errors.map((each) => each.detail).join('; ')}` : message,
    code,
    ...(errors.length > 0 && { errors }),
    ...others,
  }
}

/** `items.0.quantity` is `#/items/0/quantity`, with what RFC 6901 escapes. */
function toPointer(path: string): string {
  return `#/${path.replaceAll('~', '~0').replaceAll('/', '~1').split('.').join('/')}`
}
