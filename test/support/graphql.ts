/** GraphQL requests over HTTP. */
import assert from 'node:assert/strict'
import type { ClientResponse } from '../../src/testing/client.ts'
import type { Api } from './api.ts'

export const graphqlPath = '/graphql'

export interface Asked {
  variables?: Record<string, unknown>
  operationName?: string
  token?: string | undefined
  headers?: Record<string, string>
}

export function send(api: Api, query: string, { token, headers = {}, ...rest }: Asked = {}): Promise<ClientResponse> {
  return api.request('POST', graphqlPath, { json: { query, ...rest }, token, headers })
}

/**
 * Sends the request five times: a document is compiled on its third use, and the response must not change. Returns the
 * body.
 */
export async function ask(api: Api, query: string, asked: Asked = {}): Promise<ClientResponse['body']> {
  const bodies: ClientResponse['body'][] = []
  for (let i = 0; i < 5; i++) {
    const { status, body } = await send(api, query, asked)
    assert.equal(status, 200, JSON.stringify(body))
    bodies.push(body)
  }
  for (const body of bodies) assert.deepEqual(body, bodies[0])
  return bodies[0]
}

/** The code of the only error. */
export function codeOf(body: ClientResponse['body']): unknown {
  assert.equal(body.errors?.length, 1, JSON.stringify(body).slice(0, 300))
  return body.errors[0].extensions.code
}
