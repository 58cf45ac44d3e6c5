/** Many users with a session, and some of them with a second factor and a key. */
import assert from 'node:assert/strict'
import { Secret, TOTP } from 'otpauth'
import type { TestService } from '../../../src/testing/start-service.ts'

export interface Person {
  email: string
  refresh: string
}

const password = 'Correct-Horse-1'
const atOnce = 16

export async function addPeople(service: TestService, count: number): Promise<Person[]> {
  const people: Person[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = next++; i < count; i = next++) people.push(await addPerson(service, i))
    }),
  )
  return people
}

async function addPerson(service: TestService, i: number): Promise<Person> {
  const email = `person${i}@example.com`
  await post(service, 201, '/api/auth/register', { email, password, name: `Person ${i}` })
  const signedIn = await post(service, 200, '/api/auth/login', { email, password })
  const access = signedIn.access_token
  await post(service, 201, '/api/auth/keys', { name: 'Deploy' }, access)
  const { secret } = await post(service, 200, '/api/auth/2fa/setup', { password }, access)
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.now() })
  const enabled = await service.post('/api/auth/2fa/enable', { code }, access)
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body))
  return { email, refresh: signedIn.refresh_token }
}

async function post(service: TestService, wanted: number, path: string, body: object, token?: string) {
  const answer = await service.post(path, body, token)
  assert.equal(answer.status, wanted, `${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
