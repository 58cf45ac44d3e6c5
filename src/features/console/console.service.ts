import type { PageKit } from '../../platform/pages/console-pages.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { TwoFactorService } from '../two-factor/two-factor.create.ts'
import type { UsersService } from '../users/users.create.ts'

/** What the pages work with. */
export interface ConsoleService {
  users: UsersService
  auth: AuthService
  twoFactor: TwoFactorService
}

export type ConsoleParts = PageKit & ConsoleService

export type SignedIn = Awaited<ReturnType<AuthService['login']['verify']>>
/** A device that is signed in. */
export type Device = Awaited<ReturnType<AuthService['sessions']['list']>>[number]
/** One that was, and why it is not any more. */
export type EndedDevice = Awaited<ReturnType<AuthService['sessions']['listEnded']>>[number]
export type EndReason = EndedDevice['reason']
/** Where the message for a forgotten password ends up; `none`: it cannot be sent. */
export type Delivery = AuthService['passwords']['delivery']
export type TwoFactorStatus = Awaited<ReturnType<TwoFactorService['status']>>
/** A secret that was shown, and not confirmed by a code yet. */
export type PendingTwoFactor = Awaited<ReturnType<TwoFactorService['setUp']>>
