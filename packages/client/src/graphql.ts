import type { Access } from './access.ts'
import { errorOf, type GraphQLErrorEntry, GraphQLRequestError } from './errors.ts'

/** A document as text, or as an object of a code generator that turns into text. */
export type GraphQLDocument = string | { toString(): string }
export type GraphQLVariables = Readonly<Record<string, unknown>>

export interface GraphQLResult<Data = unknown> {
  data?: Data | null
  errors?: readonly GraphQLErrorEntry[]
}

export function createGraphQL({ url, access }: { url: string; access: Access }) {
  /** A query or a mutation. Returns its data; throws GraphQLRequestError if there are errors. */
  return async function graphql<Data = unknown>(
    document: GraphQLDocument,
    variables: GraphQLVariables = {},
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Data> {
    const request = new Request(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: String(document), variables }),
      ...(signal && { signal }),
    })
    const response = await access.send(request)
    const result = (await response.json().catch(() => undefined)) as GraphQLResult<Data> | undefined
    if (result?.errors) throw new GraphQLRequestError(result.errors, result.data)
    if (!response.ok || !result?.data) throw errorOf(response, result)
    return result.data
  }
}
