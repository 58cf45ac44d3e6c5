/** Reads the parameters of GraphQL-over-HTTP. The engine validates those that it uses. */
import type { GraphQLRequest } from '../execution/engine.types.ts'
import { withExactNumbers } from '../execution/exact-json.ts'
import { RefusedRequest } from '../execution/refused-request.ts'

export function readParameters(given: unknown): GraphQLRequest {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badRequest('A request must be an object')
  const { extensions } = given as GraphQLRequest
  // Not used here, but the specification requires a map.
  if (
    extensions !== undefined &&
    extensions !== null &&
    (typeof extensions !== 'object' || Array.isArray(extensions))
  ) {
    throw badRequest('"extensions" must be an object')
  }
  return given
}

/** In a query string, maps are encoded as JSON. */
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
    // A repeated parameter is an array.
    if (typeof text === 'string') return withExactNumbers(JSON.parse(text, withoutPrototypes), text)
  } catch {}
  throw badRequest(`"${name}" must be an object, as JSON`)
}

function withoutPrototypes(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

export function badRequest(message: string): RefusedRequest {
  return new RefusedRequest('parameters', [{ message, extensions: { code: 'BAD_REQUEST' } }])
}
