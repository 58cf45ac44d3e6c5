/** Finds the user of an access token. */
import type { Database } from '../../platform/database/database.ts'
import type { Claims } from './tokens.ts'

export interface PrincipalRow {
  id: number
  email: string
  name: string
  roles: string
  token_version: number
}

const sql = `
  SELECT u.id, u.email, u.name, u.roles, u.token_version
  FROM sessions s JOIN users u ON u.id = s.user_id
  WHERE s.id = $1 AND u.id = $2 AND u.token_version = $3 AND s.revoked_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM revoked_tokens r WHERE r.id = $4)`

export function createPrincipalStore(db: Database) {
  return {
    /** Returns undefined if the token or its family is revoked, or its version is outdated. */
    findByToken: (claims: Claims) =>
      db.get<PrincipalRow>(sql, [claims.family, Number(claims.sub), claims.ver, claims.jti]),
  }
}

export type PrincipalStore = ReturnType<typeof createPrincipalStore>
