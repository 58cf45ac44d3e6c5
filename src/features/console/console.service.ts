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
