/** Common steps: register, sign in, turn on two-factor. */
import assert from 'node:assert/strict'
import { Secret, TOTP } from 'otpauth'
import { type ClientResponse, testPassword as password } from '../../src/testing/client.ts'
import type { Api } from './api.ts'

export { password }

export interface SignedIn {
  id: number
  email: string
  access: string
  refresh: string
}

export async function register(api: Api, email = `user${Math.floor(performance.now() * 1000)}@example.com`) {
  const response = await api.post('/api/auth/register', { email, password, name: 'Ada' })
  assert.equal(response.status, 201, JSON.stringify(response.body))
  return { id: response.body.data.id as number, email: response.body.data.email as string }
}

export function logIn(api: Api, email: string, given = password): Promise<ClientResponse> {
  return api.post('/api/auth/login', { email, password: given })
}

/** A new user with a session. */
export async function signIn(api: Api, email?: string): Promise<SignedIn> {
  return again(api, await register(api, email))
}

/** Another session of the same user. */
export async function again(api: Api, user: { id: number; email: string }): Promise<SignedIn> {
  const { status, body } = await logIn(api, user.email)
  assert.equal(status, 200, JSON.stringify(body))
  return { ...user, access: body.access_token, refresh: body.refresh_token }
}

export function totp(api: Api, secret: string, offsetSeconds = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now() + offsetSeconds * 1000 })
}

/** Turns on two-factor. This consumes the code of the current time step. */
export async function enableTwoFactor(api: Api, user: SignedIn): Promise<{ secret: string; recoveryCodes: string[] }> {
  const setUp = await api.post('/api/auth/2fa/setup', { password }, user.access)
  assert.equal(setUp.status, 200, JSON.stringify(setUp.body))
  const { secret } = setUp.body
  const enabled = await api.post('/api/auth/2fa/enable', { code: totp(api, secret) }, user.access)
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body))
  return { secret, recoveryCodes: enabled.body.recovery_codes }
}

export async function challengeOf(api: Api, email: string): Promise<string> {
  const { status, body } = await logIn(api, email)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.requires_2fa, true)
  return body.challenge_token
}

export async function isSignedIn(api: Api, access: string): Promise<boolean> {
  return (await api.get('/me', access)).status === 200
}

export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
}

export function many<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => make(i)))
}
