/** What a page says after something was done, where a redirect leads to it: reloading then does nothing twice. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from '../http/request-path.ts'
import type { Cookies } from './cookies.ts'

export interface Notices {
  /** Leads to a page that says so. The notice is one that the feature's pages declare. */
  redirect(reply: FastifyReply, to: { address: string; notice: string }): FastifyReply
  /** What this page says. It is said once. */
  take(request: FastifyRequest, reply: FastifyReply): string | undefined
}

/**
 * Kept in a cookie, not in the address: nobody can make a link to a page of ours that says what is not true. It names
 * the page, since another one may be opened before the redirect is followed.
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
