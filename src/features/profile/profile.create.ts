import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import { createEmailChange } from './email-change.service.ts'
import { createAccountRemoval } from './removal.service.ts'

export interface ProfileNeeds {
  users: UsersService
  auth: AuthService
}

export type ProfileService = ReturnType<typeof createProfileService>

export function createProfileService(infrastructure: Infrastructure, { users, auth }: ProfileNeeds) {
  const { config } = infrastructure
  return {
    Profile: users.Profile,
    EmailAddress: users.EmailAddress,
    rename: users.rename,
    email: createEmailChange({ ...infrastructure, users, auth, publicUrl: config.server.publicUrl }),
    removeAccount: createAccountRemoval({ ...infrastructure, users, auth }),
    verification: auth.verification,
    authenticate: auth.authenticate,
    deviceTokenOf: auth.deviceHeader.read,
    canMail: auth.passwords.canMail,
    /** Per user, because every request costs a hash or a mail. */
    limiter: auth.limiters.confirm,
    /** Per client address, for tokens from mails. */
    tokenLimiter: auth.limiters.reset,
  }
}
