/** API keys, as programs have them. */
import assert from 'node:assert/strict'
import type { Api } from './api.ts'

export interface MadeKey {
  id: string
  key: string
}

export async function makeKey(api: Api, access: string, body: object = {}): Promise<MadeKey> {
  const made = await api.post('/api/auth/keys', { name: 'Deploy', ...body }, access)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return { id: made.body.data.id, key: made.body.key }
}

/** The key with another character at that place. */
export function withTypo(key: string, place: number): string {
  return key.slice(0, place) + (key[place] === 'a' ? 'b' : 'a') + key.slice(place + 1)
}
