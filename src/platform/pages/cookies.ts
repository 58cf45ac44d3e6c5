/** The cookies of the pages: who is signed in, which browser got a public form, and what the next page says. */
import { fastifyCookie } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Cookies {
  session(request: FastifyRequest): string | undefined
  /** For requests that the framework has not read, such as upgrades: of the header itself. */
  sessionIn(header: string | undefined): string | undefined
  setSession(reply: FastifyReply, id: string): void
  clearSession(reply: FastifyReply): void
  /** What makes this browser a known device of an account. It outlives the session. */
  device(request: FastifyRequest): string | undefined
  setDevice(reply: FastifyReply, token: string): void
  /** Of a browser that is not signed in. */
  form(request: FastifyRequest): string | undefined
  setForm(reply: FastifyReply, id: string): void
  clearForm(reply: FastifyReply): void
  /** What the page says that a redirect leads to. */
  notice(request: FastifyRequest): string | undefined
  setNotice(reply: FastifyReply, text: string): void
  clearNotice(reply: FastifyReply): void
}

/** A redirect is followed at once, or not at all. */
const noticeSeconds = 60
/** As long as a device stays known without being used. */
const deviceSeconds = 180 * 86_400

/**
 * Over https the names begin with `__Host-`, which browsers let nobody but this very host set. Over plain http, as in
 * development, they refuse such a name.
 */
export function createCookies({ isHttps, maxAgeSeconds }: { isHttps: boolean; maxAgeSeconds: number }): Cookies {
  const prefix = isHttps ? '__Host-' : ''
  const names = {
    session: `${prefix}latchkey_session`,
    device: `${prefix}latchkey_device`,
    form: `${prefix}latchkey_form`,
    notice: `${prefix}latchkey_notice`,
  }
  const options = { path: '/', httpOnly: true, secure: isHttps } as const
  return {
    session: (request) => request.cookies[names.session],
    sessionIn: (header = '') => fastifyCookie.parse(header)[names.session],
    // Lax: a link in a mail leads a signed-in person to a page, not to the sign-in form. Forms need a token anyway.
    setSession: (reply, id) =>
      void reply.setCookie(names.session, id, { ...options, sameSite: 'lax', maxAge: maxAgeSeconds }),
    clearSession: (reply) => void reply.clearCookie(names.session, options),
    device: (request) => request.cookies[names.device],
    // Strict: only our own forms read it.
    setDevice: (reply, token) =>
      void reply.setCookie(names.device, token, { ...options, sameSite: 'strict', maxAge: deviceSeconds }),
    form: (request) => request.cookies[names.form],
    setForm: (reply, id) => void reply.setCookie(names.form, id, { ...options, sameSite: 'lax' }),
    clearForm: (reply) => void reply.clearCookie(names.form, options),
    notice: (request) => request.cookies[names.notice],
    setNotice: (reply, text) =>
      void reply.setCookie(names.notice, text, { ...options, sameSite: 'lax', maxAge: noticeSeconds }),
    clearNotice: (reply) => void reply.clearCookie(names.notice, options),
  }
}
