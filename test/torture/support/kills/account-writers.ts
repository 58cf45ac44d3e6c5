/** Registers users, rotates refresh tokens, and changes roles. */
import { randomUUID } from 'node:crypto'
import { defaultRoles, type Person, password, type Writer, type WriterParts } from './writer.ts'

interface Tokens {
  access_token: string
  refresh_token: string
}

export interface SignedIn extends Tokens {
  id: number
  person: Person
}

export async function register({ caller, expected }: WriterParts, email: string): Promise<SignedIn> {
  // Taken if it was made by a request that was not answered.
  const answer = await caller.call([201, 409], { path: '/api/auth/register', body: { email, password } })
  if (answer.status === 201) caller.acknowledge('register')
  const login = await caller.call([200], { path: '/api/auth/login', body: { email, password } })
  caller.acknowledge('login')
  const { body: me } = await caller.call([200], { path: '/me', token: login.body.access_token })
  const person: Person = { email, roles: defaultRoles, logins: 1, refreshes: 0 }
  expected.people.set(me.id, person)
  return { ...login.body, id: me.id, person }
}

export function createRegistrar(parts: WriterParts, name: string): Writer {
  let made = 0
  let pending: string | undefined

  async function settle(): Promise<void> {
    if (pending === undefined) return
    await register(parts, pending)
    pending = undefined
  }

  return {
    async write() {
      made += 1
      pending = `${name}-${made}@example.com`
      await settle()
    },
    settle,
  }
}

export function createRotator({ caller }: WriterParts, { person, ...signedIn }: SignedIn): Writer {
  let tokens: Tokens = signedIn
  let key: string | undefined

  /** The first time or again: with the same key it is the same rotation. */
  async function settle(): Promise<void> {
    if (key === undefined) return
    const headers = { 'idempotency-key': key }
    const body = { refresh_token: tokens.refresh_token }
    const answer = await caller.call([200], { path: '/api/auth/refresh', body, headers })
    tokens = answer.body
    key = undefined
    person.refreshes += 1
    caller.acknowledge('refresh')
  }

  return {
    async write() {
      key = randomUUID()
      await settle()
      await caller.call([200], { path: '/me', token: tokens.access_token })
    },
    settle,
  }
}

const choices = [['viewer'], ['editor'], ['viewer', 'editor'], []]

export function createRoleWriter(
  { caller }: WriterParts,
  { id, person, token }: Pick<SignedIn, 'id' | 'person'> & { token: string },
): Writer {
  let next = 0
  let pending: readonly string[] | undefined

  return {
    async write() {
      next += 1
      const roles = choices[next % choices.length] ?? []
      pending = roles
      await caller.call([200], { path: `/api/admin/users/${id}/roles`, method: 'PUT', body: { roles }, token })
      person.roles = roles
      pending = undefined
      caller.acknowledge('roles')
    },

    async settle() {
      if (!pending) return
      const path = `/api/admin/users?q=${encodeURIComponent(person.email)}`
      const { body } = await caller.call([200], { path, token })
      const found: string[] = body.data.find((each: { id: number }) => each.id === id)?.roles
      // As they were before, or as they were to become.
      const roles = [person.roles, pending].find((each) => String(each) === String(found))
      if (!roles) throw new Error(`${person.email} has the roles ${found}, not ${person.roles} or ${pending}`)
      person.roles = roles
      pending = undefined
    },
  }
}
