/** Problem details (RFC 9457) for clients that accept `application/problem+json`. */
import Negotiator from 'negotiator'
import type { AppError } from '../../core/app-error.ts'

export const problemType = 'application/problem+json'

/**
 * The type must be named explicitly: a client that lists it next to `application/json` expects it for errors, one that
 * accepts everything gets the default.
 */
export function acceptsProblems(accept: string | undefined): boolean {
  // Fast path: most clients do not name it.
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
  /** `pointer` is a JSON pointer into the request body. */
  errors?: { pointer: string; detail: string }[]
  [extension: string]: unknown
}

export function toProblem({ status, code, message, reason, extra = {}, problem }: AppError): Problem {
  const { details, ...others } = extra
  const errors = Object.entries((details ?? {}) as Record<string, string[]>).flatMap(([path, problems]) =>
    problems.map((detail) => ({ pointer: toPointer(path), detail })),
  )
  return {
    type: `urn:latchkey:error:${code}`,
    title: message,
    status,
    detail: reason ?? (errors.length > 0 ? `${message}: ${errors.map((each) => each.detail).join('; ')}` : message),
    code,
    ...(errors.length > 0 && { errors }),
    ...others,
    ...problem,
  }
}

/** `items.0.quantity` becomes `#/items/0/quantity`, escaped as in RFC 6901. */
function toPointer(path: string): string {
  return `#/${path.replaceAll('~', '~0').replaceAll('/', '~1').split('.').join('/')}`
}
