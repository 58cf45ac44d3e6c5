import type { FastifyInstance } from 'fastify'
import { addAccountPages } from './account/account.routes.ts'
import { addDevicePages } from './account/devices.routes.ts'
import { addTwoFactorPages } from './account/two-factor.routes.ts'
import type { ConsoleParts } from './console.service.ts'
import { addPasswordPages } from './sign-in/password.routes.ts'
import { addRegisterPages } from './sign-in/register.routes.ts'
import { addSignInPages } from './sign-in/sign-in.routes.ts'

export function addConsolePages(app: FastifyInstance, parts: ConsoleParts): void {
  addSignInPages(app, parts)
  addRegisterPages(app, parts)
  addPasswordPages(app, parts)
  addAccountPages(app, parts)
  addTwoFactorPages(app, parts)
  addDevicePages(app, parts)
}
