/** One step of an upgrade: something that one node issues and another accepts. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ClientResponse, createClient } from '../../src/testing/client.ts'
import { password } from '../support/people.ts'

export interface Node extends ReturnType<typeof createClient> {
  name: 'previous' | 'current'
  url: string
}

export interface Step<T> {
  issue(node: Node): Promise<T>
  use(node: Node, issued: T): Promise<void>
}

/** A function that hides the type of what is issued, so that steps can be listed together. */
export type Exchange = (from: Node) => Promise<(to: Node) => Promise<void>>

export function step<T>({ issue, use }: Step<T>): Exchange {
  return async (from) => {
    const issued = await issue(from)
    return (to) => use(to, issued)
  }
}

export async function signUp(node: Node) {
  const email = `${randomUUID()}@example.com`
  const { body } = expectStatus(await node.post('/api/auth/register', { email, password, name: 'Ada' }), 201)
  const login = expectStatus(await logIn(node, email), 200)
  return {
    id: body.data.id as number,
    email,
    access: login.body.access_token as string,
    refresh: login.body.refresh_token as string,
  }
}

export function logIn(node: Node, email: string, given = password, headers: Record<string, string> = {}) {
  return node.request('POST', '/api/auth/login', { json: { email, password: given }, headers })
}

export function expectStatus(response: ClientResponse, status: number): ClientResponse {
  assert.equal(response.status, status, JSON.stringify(response.body))
  return response
}
