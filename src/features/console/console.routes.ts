/** The console: pages for people below /console. Each group of pages adds its own routes. */
import type { FastifyInstance } from 'fastify'
import type { Random } from '../../core/random.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import type { Cookies } from '../../platform/pages/cookies.ts'
import type { Csrf } from '../../platform/pages/csrf.ts'
import { addPages, type SendPage } from '../../platform/pages/pages.ts'
import { addAccountPages } from './account/account.routes.ts'
import { addDevicePages } from './account/devices.routes.ts'
import { addTwoFactorPages } from './account/two-factor.routes.ts'
import { addAuditPages } from './admin/audit.routes.ts'
import { addUserPages } from './admin/users.routes.ts'
import { serveAssets } from './assets.ts'
import type { Admin, Login, Passwords, Products, Sessions, TwoFactor, Users, WebSessions } from './console.needs.ts'
import { createLayout } from './parts/layout.ts'
import { createNotices, type Notices } from './parts/notices.ts'
import { problemPage } from './parts/problem.views.ts'
import { addProductPages } from './products/products.routes.ts'
import { withNext } from './sign-in/next.ts'
import { addPasswordPages } from './sign-in/password.routes.ts'
import { addRegisterPages } from './sign-in/register.routes.ts'
import { addSignInPages } from './sign-in/sign-in.routes.ts'

export const consolePath = '/console'
/** Where its socket is served. */
export const livePath = `${consolePath}/live`

export interface ConsoleDeps {
  random: Random
  cookies: Cookies
  csrf: Csrf
  hasPlayground: boolean
  login: Login
  webSessions: WebSessions
  users: Users
  passwords: Passwords
  sessions: Sessions
  twoFactor: TwoFactor
  /** A picture of a text, as a data URI. */
  drawQrCode(text: string): Promise<string>
  admin: Admin
  products: Products
  findPasswordProblems(password: string): string[]
  /** Throws what is wrong with it, by field. */
  validateRegistration(given: object): { email: string; password: string; name: string }
  /** Throws what is wrong with it, by field. */
  validateProfile(given: object): { name: string }
  /** By client address, but for `confirm`, which is by user. */
  limiters: Record<'login' | 'register' | 'verify' | 'reset' | 'confirm', Limiter>
}

/** What every group of pages works with. */
export interface ConsoleParts extends ConsoleDeps {
  send: SendPage
  notices: Notices
}

/** A plugin below consolePath. */
export async function consoleRoutes(app: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  const notices = createNotices(deps.cookies)
  const send = await addPages(app, {
    ...deps,
    findSession: deps.webSessions.find,
    askToSignIn(reply, { next, wasPosted }) {
      const address = withNext(`${consolePath}/sign-in`, next)
      return wasPosted ? notices.redirect(reply, { address, notice: 'session-over' }) : reply.redirect(address, 303)
    },
    render: createLayout(deps),
    renderProblem: problemPage,
  })
  app.decorateRequest('notice', undefined)
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET') request.notice = notices.take(request, reply)
  })
  const parts: ConsoleParts = { ...deps, send, notices }
  const config = { access: 'public', docs: false } as const

  serveAssets(app)
  app.get('/', { config }, (request, reply) =>
    reply.redirect(request.principal ? `${consolePath}/products` : `${consolePath}/sign-in`, 303),
  )
  addSignInPages(app, parts)
  addRegisterPages(app, parts)
  addPasswordPages(app, parts)
  addAccountPages(app, parts)
  addTwoFactorPages(app, parts)
  addDevicePages(app, parts)
  addUserPages(app, parts)
  addAuditPages(app, parts)
  addProductPages(app, parts)
  app.get('/*', { config }, async (request, reply) => {
    const [path = ''] = request.url.split('?', 1)
    // With a slash at its end it is the same page's address. A proxy's form of it would name a host.
    if (path.startsWith('/') && path.endsWith('/'))
      return reply.redirect(path.slice(0, -1) + request.url.slice(path.length), 308)
    // A page says so too, not only a line of JSON.
    throw httpErrors.notFound()
  })
}
