/** A request as GraphQL-over-HTTP names its parameters. The engine checks what it uses of them. */
import type { GraphQLRequest } from '../execution/engine.types.ts'
import { withWrittenNumbers } from '../execution/exact-json.ts'
import { RefusedRequest } from '../execution/refused-request.ts'

export function readParameters(given: unknown): GraphQLRequest {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badRequest('A request must be an object')
  const { extensions } = given as GraphQLRequest
  // What is no map is a mistake all the same, which its sender should learn of.
  if (
    extensions !== undefined &&
    extensions !== null &&
    (typeof extensions !== 'object' || Array.isArray(extensions))
  ) {
    throw badRequest('"extensions" must be an object')
  }
  return given
}

/** In a query string, maps are JSON. */
export function readQueryString(query: Readonly<Record<string, unknown>>): GraphQLRequest {
  return readParameters({
    query: query.query,
    operationName: query.operationName,
    variables: readMap('variables', query.variables),
    extensions: readMap('extensions', query.extensions),
  })
}

function readMap(name: string, text: unknown): unknown {
  if (text === undefined || text === '') return undefined
  try {
    // A parameter that is given twice is a list here, and no text.
    if (typeof text === 'string') return withWrittenNumbers(JSON.parse(text, leaveOutPrototypes), text)
  } catch {}
  throw badRequest(`"${name}" must be an object, as JSON`)
}

function leaveOutPrototypes(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

export function badRequest(message: string): RefusedRequest {
  return new RefusedRequest('parameters', [{ message, extensions: { code: 'BAD_REQUEST' } }])
}
