import type { FastifyInstance } from 'fastify'
import { addAccessTokenPages } from './account/access-token.routes.ts'
import { addAccountPages } from './account/account.routes.ts'
import { addDeletePages } from './account/delete.routes.ts'
import { addDevicePages } from './account/devices.routes.ts'
import { addEmailPages } from './account/email.routes.ts'
import { addTwoFactorPages } from './account/two-factor.routes.ts'
import type { ConsoleParts } from './console.service.ts'
import { addInvitationPages } from './sign-in/invitation.routes.ts'
import { addPasswordPages } from './sign-in/password.routes.ts'
import { addRegisterPages } from './sign-in/register.routes.ts'
import { addSignInPages } from './sign-in/sign-in.routes.ts'

export function addConsolePages(app: FastifyInstance, parts: ConsoleParts): void {
  addSignInPages(app, parts)
  addRegisterPages(app, parts)
  addPasswordPages(app, parts)
  addInvitationPages(app, parts)
  const show = addAccountPages(app, parts)
  addEmailPages(app, { ...parts, show })
  addDeletePages(app, parts)
  addTwoFactorPages(app, parts)
  addDevicePages(app, parts)
  addAccessTokenPages(app, parts)
}
