/** HTML pages: routes in this plugin get cookie sessions, the check of `_token` before any handler, and error pages. */
import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/app-error.ts'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../access/route-guards.ts'
import { toAppError } from '../http/http-errors.ts'
import { unchecked } from '../http/named-plugin.ts'
import { pathOf } from '../http/request-path.ts'
import { pageHeaders } from '../http/security-headers.ts'
import type { Cookies } from './cookies.ts'
import type { Csrf } from './csrf.ts'
import type { Html } from './html.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The cookie value that CSRF tokens are bound to. */
    formBinding: string | undefined
  }
}

/** Pages by which one gets from an entry of the navigation to a page, such as the product of a history. */
export type Trail = readonly { path: string; name: string }[]

/** A page without its layout. */
export interface Page {
  title: string
  content: Html
  /** Its URL after a POST. Defaults to the nearest page above the form's action; false if it cannot be loaded again. */
  address?: string | false
  /** File names of styles in /console/assets that only this page needs. */
  styles?: readonly string[]
  /** Between the entry of the navigation and this page. None by default. */
  trail?: Trail
}

export interface PagesOptions {
  cookies: Cookies
  csrf: Csrf
  random: Random
  findSession(id: string): Promise<Principal | undefined>
  /** Renders the whole document. */
  render(page: Page, request: FastifyRequest): Html
  renderProblem(error: AppError): Page
  /** Redirects to the sign-in form, and from there to `next`. A posted form is not submitted again. */
  askToSignIn(reply: FastifyReply, asked: { next: string; wasPosted: boolean }): FastifyReply
}

export type SendPage = (request: FastifyRequest, reply: FastifyReply, page: Page, status?: number) => FastifyReply

export function formExpired(): AppError {
  return new AppError(403, 'This form has expired. Load the page again and retry.', { code: 'form_expired' })
}

/** Content-Security-Policy: own files only, nothing inline. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Submitted values are rendered again, which costs time, so the limit is low, and lower for anonymous users. */
const maxFormBytes = { public: 16 * 1024, other: 128 * 1024 }

/** Call it in a plugin of its own, before adding its routes. Returns the function that sends a page. */
export async function addPages(app: FastifyInstance, options: PagesOptions): Promise<SendPage> {
  const { cookies, csrf, random } = options
  const headers = pageHeaders(pagePolicy)
  await app.register(unchecked('cookies', fastifyCookie))
  app.decorateRequest('formBinding', undefined)
  // Pages only submit forms.
  app.removeContentTypeParser('application/json')
  app.addHook('onRoute', (route) => {
    route.bodyLimit = route.config?.access === 'public' ? maxFormBytes.public : maxFormBytes.other
  })

  async function identify(request: FastifyRequest): Promise<Principal | undefined> {
    const id = cookies.session(request)
    return id === undefined ? undefined : options.findSession(id)
  }

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers)
    request.identify = identify
    request.principal = await identify(request)
    request.formBinding = request.principal ? cookies.session(request) : cookies.form(request)
  })

  // After the body, which has the token, was parsed, and before validation and handler.
  app.addHook('preValidation', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return
    const { _token: token } = (request.body ?? {}) as { _token?: unknown }
    // Other ports and sub-domains of the same site count as foreign: over plain http they can set our cookies.
    const isFromElsewhere = ['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']))
    const { formBinding } = request
    if (isFromElsewhere || formBinding === undefined || !csrf.isValid(token, formBinding)) throw formExpired()
  })

  app.setErrorHandler<unknown>((thrown, request, reply) => {
    const error = toAppError(thrown)
    if (error.causeToLog !== undefined) request.log.error({ err: error.causeToLog }, error.message)
    if (error.status === 401) {
      const wasPosted = request.method !== 'GET'
      return options.askToSignIn(reply, { next: wasPosted ? pageAbove(request) : request.url, wasPosted })
    }
    return send(request, reply.headers(error.headers ?? {}), options.renderProblem(error), error.status)
  })

  /** The page of a form, by its URL: the nearest path that has a GET route. */
  function pageAbove(request: FastifyRequest): string {
    const names = pathOf(request.url).split('/')
    const pattern = request.routeOptions.url?.split('/') ?? []
    while (pattern.length > 1 && !app.hasRoute({ method: 'GET', url: pattern.join('/') })) pattern.pop()
    return names.slice(0, pattern.length).join('/')
  }

  function tokenFor(request: FastifyRequest, reply: FastifyReply): string {
    if (request.formBinding === undefined) {
      request.formBinding = random.id()
      cookies.setForm(reply, request.formBinding)
    }
    return csrf.issue(request.formBinding)
  }

  /** Adds the token to every form that posts, so that views cannot forget it. */
  const send: SendPage = (request, reply, page, status = 200) => {
    const address = request.method === 'POST' && (page.address ?? pageAbove(request))
    const { text } = options.render({ ...page, address }, request)
    const whole = afterEachPostForm(text, () => {
      return `<input type="hidden" name="_token" value="${tokenFor(request, reply)}">`
    })
    return reply.code(status).type('text/html; charset=utf-8').send(whole)
  }
  return send
}

/** Values are escaped, so every `<form ` is a tag of a template and ends at the next `>`. */
function afterEachPostForm(text: string, insert: () => string): string {
  const [before = '', ...forms] = text.split('<form ')
  const written = forms.map((form) => {
    const end = form.indexOf('>') + 1
    const attributes = ` ${form.slice(0, end)}`
    return attributes.includes(' method="post"') ? form.slice(0, end) + insert() + form.slice(end) : form
  })
  return [before, ...written].join('<form ')
}
