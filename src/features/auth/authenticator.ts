/** Authenticates access tokens and API keys: signature or checksum first, then everything else in one query. */

import type { Principal } from '../../platform/access/route-guards.ts'
import type { PrincipalRow, PrincipalStore } from './principals.store.ts'
import type { ProgramKeysSlot } from './program-keys.ts'
import type { Tokens } from './tokens.ts'

export interface AuthenticatorDeps {
  principals: PrincipalStore
  tokens: Tokens
  programKeys: Pick<ProgramKeysSlot, 'isKey' | 'authenticate'>
  /** Called at every request, so that a change of roles applies immediately. */
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
