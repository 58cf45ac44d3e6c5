/** Logins with and without the token that makes a device known. */
import assert from 'node:assert/strict'
import type { ClientResponse } from '../../src/testing/client.ts'
import type { Api } from './api.ts'
import { password } from './people.ts'

export interface FromDevice {
  token?: string | undefined
  given?: string
  /** Of the client, behind a proxy that is trusted. */
  address?: string
}

/** Many addresses, and no limit on any. */
export const manyAddresses = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_LOGIN: '100000/60' }

export function logInFrom(
  api: Api,
  email: string,
  { token, given = password, address }: FromDevice,
): Promise<ClientResponse> {
  return api.request('POST', '/api/auth/login', {
    json: { email, password: given },
    headers: {
      ...(token !== undefined && { 'x-device-token': token }),
      ...(address !== undefined && { 'x-forwarded-for': address }),
    },
  })
}

export function deviceTokenIn({ headers }: Pick<ClientResponse, 'headers'>): string {
  return headers.get('x-device-token') ?? assert.fail('no device token')
}

/** A completed login of a device that nobody knew. */
export async function newDevice(api: Api, email: string, given = password) {
  const answer = await logInFrom(api, email, { given })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return { token: deviceTokenIn(answer), access: answer.body.access_token as string }
}

/** As strangers do it. Returns until when. */
export async function lockOut(api: Api, email: string): Promise<number> {
  for (let i = 0; i < 4; i++) assert.equal((await logInFrom(api, email, { given: 'wrong' })).status, 401)
  const { status, body } = await logInFrom(api, email, { given: 'wrong' })
  assert.equal(status, 423)
  return body.locked_until
}

/** Of an account that strangers have locked: only a known device gets in. */
export async function isKnown(api: Api, email: string, token: string, given = password): Promise<boolean> {
  const { status } = await logInFrom(api, email, { token, given })
  assert.ok([200, 423].includes(status), String(status))
  return status === 200
}
