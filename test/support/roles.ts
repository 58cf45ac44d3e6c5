import type { Parts } from '../../src/app/create-app.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { type Api, type ApiOptions, shareApi, shareService, startApi } from './api.ts'
import { again, type SignedIn, signIn } from './people.ts'
import { isFull } from './tiers.ts'

export interface ApiWithRoles extends Api {
  db: Database
  /** The parts of the service. */
  parts: Parts
  /** Gives a user roles without any checks. */
  grant(user: { id: number }, ...roles: string[]): Promise<void>
  /** A new signed-in user with these roles. */
  signInAs(...roles: string[]): Promise<SignedIn>
}

export async function startApiWithRoles(t: Parameters<typeof startApi>[0], options: ApiOptions): Promise<ApiWithRoles> {
  let found: Parts | undefined
  const api = await startApi(t, {
    ...options,
    async extend(app, parts) {
      found = parts
      await options.extend?.(app, parts)
    },
  })
  const parts = found as unknown as Parts
  const { db } = parts
  const grant = async (user: { id: number }, ...roles: string[]) => {
    await db.write({ sql: 'UPDATE users SET roles = $1 WHERE id = $2', params: [JSON.stringify(roles), user.id] })
  }
  return {
    ...api,
    db,
    parts,
    grant,
    async signInAs(...roles) {
      const user = await signIn(api)
      await grant(user, ...roles)
      return again(api, user)
    },
  }
}

/**
 * One service for tests that need roles and for those that do not. In `npm run test:full` the latter have their own, which
 * serves with two threads.
 */
export function shareWithRoles(options: ApiOptions = {}) {
  const withRoles = shareService(startApiWithRoles, options)
  return { withRoles, shared: isFull ? shareApi(options) : (withRoles as () => Promise<Api>) }
}
