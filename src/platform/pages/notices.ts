/** Notices shown after an action and its redirect (Post/Redirect/Get, so that reloading repeats nothing). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from '../http/request-path.ts'
import type { Cookies } from './cookies.ts'

export interface Notices {
  /** Redirects to a page that shows the notice, which the feature's pages must declare. */
  redirect(reply: FastifyReply, to: { address: string; notice: string }): FastifyReply
  /** Returns the notice for this page, once. */
  take(request: FastifyRequest, reply: FastifyReply): string | undefined
}

/**
 * In a cookie, not in the URL, so that nobody can craft a link to a page with a false notice. The cookie names the page,
 * because another one may be opened before the redirect is followed.
 */
export function createNotices(
  cookies: Pick<Cookies, 'notice' | 'setNotice' | 'clearNotice'>,
  texts: Readonly<Record<string, string>>,
): Notices {
  return {
    redirect(reply, { address, notice }) {
      if (!Object.hasOwn(texts, notice)) throw new Error(`no pages declare the notice "${notice}"`)
      cookies.setNotice(reply, `${notice} ${pathOf(address)}`)
      return reply.redirect(address, 303)
    },
    take(request, reply) {
      const [name = '', path] = cookies.notice(request)?.split(' ', 2) ?? []
      if (path !== pathOf(request.url)) return undefined
      cookies.clearNotice(reply)
      return Object.hasOwn(texts, name) ? texts[name] : undefined
    },
  }
}
