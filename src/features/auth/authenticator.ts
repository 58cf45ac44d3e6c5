/** Who bears an access token, or a program's key. The signature first, then everything else in one query. */

import type { Principal } from '../../platform/access/route-guards.ts'
import type { PrincipalRow, PrincipalStore } from './principals.store.ts'
import type { ProgramKeysSlot } from './program-keys.ts'
import type { Tokens } from './tokens.ts'

export interface AuthenticatorDeps {
  principals: PrincipalStore
  tokens: Tokens
  programKeys: Pick<ProgramKeysSlot, 'isKey' | 'authenticate'>
  /** Roles are read at every request, so a change works at the next one. */
  createUser(row: PrincipalRow): Omit<Principal, 'session' | 'token'>
}

export function createAuthenticator({ principals, tokens, programKeys, createUser }: AuthenticatorDeps) {
  return async (token: string): Promise<Principal | undefined> => {
    if (programKeys.isKey(token)) return programKeys.authenticate(token)
    const claims = tokens.readLive(token, 'access')
    if (!claims) return undefined
    const row = await principals.findByToken(claims)
    if (!row) return undefined
    return Object.assign(createUser(row), { session: claims.family, token: { id: claims.jti, expiresAt: claims.exp } })
  }
}
