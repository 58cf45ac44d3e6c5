/**
 * Pages for people: whoever registers routes below this plugin gets sessions by cookie, the check of `_token` before
 * any handler, and errors as pages. Nothing has to be remembered for it.
 */
import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/app-error.ts'
import type { Random } from '../../core/random.ts'
import type { Html } from '../html/html.ts'
import type { Principal } from '../http/access.ts'
import { httpErrors } from '../http/errors.ts'
import type { Cookies } from './cookies.ts'
import type { Csrf } from './csrf.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the browser's cookie holds; forms are bound to it. */
    formBinding: string | undefined
  }
}

/** A page without what surrounds it. */
export interface Page {
  title: string
  content: Html
}

export interface PagesOptions {
  cookies: Cookies
  csrf: Csrf
  random: Random
  findSession(id: string): Promise<Principal | undefined>
  /** The whole document around a page. */
  render(page: Page, request: FastifyRequest, token: string): Html
  /** Where people sign in; they are led back to where they wanted to go. */
  signInPath: string
}

export interface Pages {
  send(request: FastifyRequest, reply: FastifyReply, page: Page, status?: number): FastifyReply
  /** For the hidden field of a form. */
  tokenFor(request: FastifyRequest, reply: FastifyReply): string
}

export const csrfErrors = {
  wrongToken: () => new AppError(403, 'This form has expired. Go back, load the page again and retry.'),
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Call it in a plugin of its own, before its routes are added. */
export async function addPages(app: FastifyInstance, options: PagesOptions): Promise<Pages> {
  const { cookies, csrf, random } = options
  await app.register(fastifyCookie)
  app.decorateRequest('formBinding', undefined)

  async function identify(request: FastifyRequest): Promise<Principal | undefined> {
    const id = cookies.session(request)
    return id === undefined ? undefined : options.findSession(id)
  }

  app.addHook('onRequest', async (request, reply) => {
    reply.header('content-security-policy', policy).header('cache-control', 'no-store')
    request.identify = identify
    request.principal = await identify(request)
    request.formBinding = request.principal ? cookies.session(request) : cookies.form(request)
  })

  // Behind the body, which holds the token, and before whatever the route does.
  app.addHook('preValidation', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return
    const { _token: token } = (request.body ?? {}) as { _token?: unknown }
    const isOwn = request.headers['sec-fetch-site'] !== 'cross-site'
    const { formBinding } = request
    if (!isOwn || formBinding === undefined || !csrf.isValid(token, formBinding)) throw csrfErrors.wrongToken()
  })

  app.setErrorHandler<unknown>((error, request, reply) => sendProblem(error, request, reply))

  function tokenFor(request: FastifyRequest, reply: FastifyReply): string {
    if (request.formBinding === undefined) {
      request.formBinding = random.id()
      cookies.setForm(reply, request.formBinding)
    }
    return csrf.issue(request.formBinding)
  }

  function send(request: FastifyRequest, reply: FastifyReply, page: Page, status = 200): FastifyReply {
    const token = tokenFor(request, reply)
    return reply.code(status).type('text/html; charset=utf-8').send(options.render(page, request, token).text)
  }

  function sendProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = thrown instanceof AppError ? thrown : httpErrors.internal(thrown)
    return reply.send(error)
  }

  return { send, tokenFor }
}
