/** Who bears an access token. The signature first, then everything else in one query. */

import type { Principal } from '../../platform/access/route-guards.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Tokens } from './tokens.ts'

export interface PrincipalRow {
  id: number
  email: string
  name: string
  roles: string
  token_version: number
}

export interface AuthenticatorDeps {
  db: Database
  tokens: Tokens
  /** Roles are read at every request, so a change works at the next one. */
  createUser(row: PrincipalRow): Omit<Principal, 'session' | 'token'>
}

const sql = `
  SELECT u.id, u.email, u.name, u.roles, u.token_version
  FROM sessions s JOIN users u ON u.id = s.user_id
  WHERE s.id = $1 AND u.id = $2 AND u.token_version = $3 AND s.revoked_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM revoked_tokens r WHERE r.id = $4)`

export function createAuthenticator({ db, tokens, createUser }: AuthenticatorDeps) {
  return async (token: string): Promise<Principal | undefined> => {
    const claims = tokens.readLive(token, 'access')
    if (!claims) return undefined
    const row = await db.get<PrincipalRow>(sql, [claims.family, Number(claims.sub), claims.ver, claims.jti])
    if (!row) return undefined
    return Object.assign(createUser(row), { session: claims.family, token: { id: claims.jti, expiresAt: claims.exp } })
  }
}
