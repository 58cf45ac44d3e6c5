/** Keys of programs. The feature that keeps them registers here; without one, no token is a key. */
import type { Place } from '../../platform/access/program-keys.ts'
import type { Authenticate } from '../../platform/access/route-guards.ts'

export interface ProgramKeys {
  /** What every key begins with, and no access token does. */
  prefix: string
  authenticate: Authenticate
  isExpired(key: string): Promise<boolean>
}

/** Sessions, passwords, second factors and keys: whatever is there is for the user in person. */
const personal = '/api/auth'
const open = `${personal}/me`

export function createProgramKeysSlot() {
  let provided: ProgramKeys | undefined
  return {
    provide(keys: ProgramKeys): void {
      provided = keys
    },
    isKey: (token: string) => provided !== undefined && token.startsWith(provided.prefix),
    authenticate: async (token: string) => provided?.authenticate(token),
    isExpired: async (token: string) => (await provided?.isExpired(token)) === true,
    mayReach({ method, path }: Place): boolean {
      // The router may take a path with slashes at its end, or in a row, for the one without.
      const plain = `${path}/`.replace(/\/+/g, '/').slice(0, -1).toLowerCase()
      if (plain !== personal && !plain.startsWith(`${personal}/`)) return true
      return plain === open && (method === 'GET' || method === 'HEAD')
    },
  }
}

export type ProgramKeysSlot = ReturnType<typeof createProgramKeysSlot>
