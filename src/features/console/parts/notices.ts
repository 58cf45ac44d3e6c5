/** What a page says after something was done, where a redirect leads to it: reloading then does nothing twice. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from '../../../platform/http/request-path.ts'
import type { Cookies } from '../../../platform/pages/cookies.ts'

const notices = {
  'signed-out': 'You are signed out.',
  'session-over': 'You are signed out, so nothing was changed. Sign in to go on.',
  registered: 'Welcome. Your account is made: sign in to go on.',
  'reset-sent': 'If that email is registered, a message is on its way.',
  'reset-logged': 'If that email is registered, the message is in the log of the service.',
  'password-reset': 'Your password is changed. Sign in with the new one.',
  'password-changed': 'Your password is changed, and you are signed out everywhere. Sign in with the new one.',
  'signed-out-everywhere': 'You are signed out everywhere.',
  'profile-saved': 'Your profile is saved.',
  'two-factor-off': 'Two-factor is off.',
  'device-signed-out': 'That device is signed out.',
  'roles-saved': 'The roles are saved.',
  unlocked: 'The account is unlocked.',
  'two-factor-reset': 'Two-factor is reset: the password alone signs in.',
  'user-signed-out': 'The user is signed out everywhere.',
  'product-created': 'The product is created.',
  'product-saved': 'The product is saved.',
  'product-restored': 'The product is back.',
} as const

export type Notice = keyof typeof notices

export interface Notices {
  /** Leads to a page that says so. */
  redirect(reply: FastifyReply, to: { address: string; notice: Notice }): FastifyReply
  /** What this page says. It is said once. */
  take(request: FastifyRequest, reply: FastifyReply): string | undefined
}

/**
 * Kept in a cookie, not in the address: nobody can make a link to a page of ours that says what is not true. It names
 * the page, since another one may be opened before the redirect is followed.
 */
export function createNotices(cookies: Pick<Cookies, 'notice' | 'setNotice' | 'clearNotice'>): Notices {
  return {
    redirect(reply, { address, notice }) {
      cookies.setNotice(reply, `${notice} ${pathOf(address)}`)
      return reply.redirect(address, 303)
    },
    take(request, reply) {
      const [name = '', path] = cookies.notice(request)?.split(' ', 2) ?? []
      if (path !== pathOf(request.url)) return undefined
      cookies.clearNotice(reply)
      return Object.hasOwn(notices, name) ? notices[name as Notice] : undefined
    },
  }
}
