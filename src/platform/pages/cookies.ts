/** The cookies of the console: the session, the CSRF binding of anonymous forms, the notice for the next page, and the appearance. */
import { fastifyCookie } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Cookies {
  session(request: FastifyRequest): string | undefined
  /** Parses the header itself, for requests that bypass Fastify, such as WebSocket upgrades. */
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
  /** The notice to show on the page after a redirect. */
  notice(request: FastifyRequest): string | undefined
  setNotice(reply: FastifyReply, text: string): void
  clearNotice(reply: FastifyReply): void
  /** The theme and density that were chosen in this browser. */
  appearance(request: FastifyRequest): string | undefined
  setAppearance(reply: FastifyReply, text: string): void
}

/** A redirect is followed immediately or not at all. */
const noticeSeconds = 60
/** As long as a device stays known without being used. */
const deviceSeconds = 180 * 86_400
const appearanceSeconds = 365 * 86_400

/**
 * Over https the names have the prefix `__Host-`, so that no other host, such as a sub-domain, can set them. Browsers reject
 * the prefix over plain http.
 */
export function cookieName(name: string, isHttps: boolean): string {
  return `${isHttps ? '__Host-' : ''}latchkey_${name}`
}

export function createCookies({ isHttps, maxAgeSeconds }: { isHttps: boolean; maxAgeSeconds: number }): Cookies {
  const names = {
    session: cookieName('session', isHttps),
    device: cookieName('device', isHttps),
    form: cookieName('form', isHttps),
    notice: cookieName('notice', isHttps),
    appearance: cookieName('appearance', isHttps),
  }
  const options = { path: '/', httpOnly: true, secure: isHttps } as const
  return {
    session: (request) => read(request, names.session),
    sessionIn: (header = '') => fastifyCookie.parse(header)[names.session],
    // Lax, so that a link in a mail opens the page and not the sign-in form. Forms are protected by `_token`.
    setSession: (reply, id) =>
      void reply.setCookie(names.session, id, { ...options, sameSite: 'lax', maxAge: maxAgeSeconds }),
    clearSession: (reply) => void reply.clearCookie(names.session, options),
    device: (request) => read(request, names.device),
    // Strict: only our own forms read it.
    setDevice: (reply, token) =>
      void reply.setCookie(names.device, token, { ...options, sameSite: 'strict', maxAge: deviceSeconds }),
    form: (request) => read(request, names.form),
    setForm: (reply, id) => void reply.setCookie(names.form, id, { ...options, sameSite: 'lax' }),
    clearForm: (reply) => void reply.clearCookie(names.form, options),
    notice: (request) => read(request, names.notice),
    setNotice: (reply, text) =>
      void reply.setCookie(names.notice, text, { ...options, sameSite: 'lax', maxAge: noticeSeconds }),
    clearNotice: (reply) => void reply.clearCookie(names.notice, options),
    appearance: (request) => read(request, names.appearance),
    setAppearance: (reply, text) =>
      void reply.setCookie(names.appearance, text, { ...options, sameSite: 'lax', maxAge: appearanceSeconds }),
  }
}

function read(request: FastifyRequest, name: string): string | undefined {
  // Requests that are refused at once, as under too much load, are answered before the plug-in has parsed them.
  const parsed: Record<string, string | undefined> | null = request.cookies
  return (parsed ?? fastifyCookie.parse(request.headers.cookie ?? ''))[name]
}
