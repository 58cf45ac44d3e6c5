/** All operations of the service, typed by its description. */
import createClient, { type Client } from 'openapi-fetch'
import { errorOf } from './errors.ts'
import type { components, paths } from './openapi.ts'

export type Api = Client<paths>
export type Schemas = components['schemas']

export function createApi(url: string, fetch: (request: Request) => Promise<Response>): Api {
  return createClient<paths>({ baseUrl: url, fetch })
}

interface Answer<Data> {
  data?: Data
  error?: unknown
  response: Response
}

/** Returns what the service answers, or throws its error. */
export async function requireAnswer<Data>(sent: Promise<Answer<Data>>): Promise<{ data: Data; headers: Headers }> {
  const { data, error, response } = await sent
  if (!response.ok) throw errorOf(response, error)
  // A 204 has no body, and its type is undefined.
  return { data: data as Data, headers: response.headers }
}
