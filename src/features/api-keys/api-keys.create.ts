import type { Infrastructure } from '../../platform/infrastructure.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import type { AdminService } from '../admin/admin.create.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import type { ApiKeysConfig } from './api-keys.config.ts'
import { createNewKeySchema, type NewKeyBody } from './api-keys.schema.ts'
import { createApiKeys } from './api-keys.service.ts'
import { createKeyStore } from './api-keys.store.ts'
import { createKeyAuthenticator } from './key-authenticator.ts'
import { keyPrefix } from './key-format.ts'

export interface ApiKeysNeeds {
  users: UsersService
  auth: AuthService
  admin: AdminService
}

export type ApiKeysService = ReturnType<typeof createApiKeysService>

export function createApiKeysService(
  infrastructure: Infrastructure<ApiKeysConfig>,
  { users, auth, admin }: ApiKeysNeeds,
) {
  const { config, db, clock, random, log, audit, createLimiter, onAccessChanged } = infrastructure
  const store = createKeyStore({ db, clock })
  const authenticator = createKeyAuthenticator({
    store,
    clock,
    log,
    createUser: users.createUser,
    compilePermissions: users.roles.compilePermissions,
  })
  infrastructure.onClose(() => authenticator.close())
  auth.programKeys.provide({ ...authenticator, prefix: keyPrefix })
  auth.credentials.provide({ name: 'api_keys', count: store.countLive, removeAll: store.removeAll })
  const NewKey = createNewKeySchema(clock)
  const validate = compileBody(NewKey)
  return {
    ...createApiKeys({
      db,
      clock,
      random,
      store,
      audit,
      limiter: createLimiter('keys', config.auth.rateLimit.keys),
      stillHasVersion: auth.stillHasVersion,
      onAccessChanged,
    }),
    clock,
    compilePermissions: users.roles.compilePermissions,
    publicUrl: config.server.publicUrl,
    /** For the endpoints and pages of administrators. */
    admin: admin.admin,
    NewKey,
    /** Throws the problems, by field. */
    validate: (given: object) => requireValid<NewKeyBody>(validate, given),
  }
}
