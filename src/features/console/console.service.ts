import type { PageKit } from '../../platform/pages/console-pages.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { ProfileService } from '../profile/profile.create.ts'
import type { TwoFactorService } from '../two-factor/two-factor.create.ts'
import type { UsersService } from '../users/users.create.ts'

export interface ConsoleService {
  users: UsersService
  auth: AuthService
  twoFactor: TwoFactorService
  profile: ProfileService
}

export type ConsoleParts = PageKit & ConsoleService

export type SignedIn = Awaited<ReturnType<AuthService['login']['verify']>>
export type Device = Awaited<ReturnType<AuthService['sessions']['list']>>[number]
/** A session that ended, and why. */
export type EndedDevice = Awaited<ReturnType<AuthService['sessions']['listEnded']>>[number]
export type EndReason = EndedDevice['reason']
/** Where password reset messages go; `none` if they cannot be sent. */
export type Delivery = AuthService['passwords']['delivery']
/** The account that a reset token belongs to. */
export type ResetAccount = NonNullable<Awaited<ReturnType<AuthService['passwords']['describeReset']>>>
export type TwoFactorStatus = Awaited<ReturnType<TwoFactorService['status']>>
/** A secret that is not confirmed by a code yet. */
export type PendingTwoFactor = Awaited<ReturnType<TwoFactorService['setUp']>>
