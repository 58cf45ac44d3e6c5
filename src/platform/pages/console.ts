/** The frame of the console: the plugin below /console in which the pages of all features are served. */
import type { FastifyInstance } from 'fastify'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../access/route-guards.ts'
import { httpErrors } from '../http/http-errors.ts'
import { serveAssets } from './assets.ts'
import { createCards } from './cards.ts'
import { problemPage } from './components/problem-page.ts'
import type { ConsolePages } from './console-pages.ts'
import type { Cookies } from './cookies.ts'
import type { Csrf } from './csrf.ts'
import { createLayout } from './layout.ts'
import { withNext } from './next-page.ts'
import { createNotices } from './notices.ts'
import { addPages } from './pages.ts'

export const consolePath = '/console'
/** Where its socket is served. */
export const livePath = `${consolePath}/live`

export interface ConsoleOptions {
  pages: readonly ConsolePages[]
  random: Random
  cookies: Cookies
  csrf: Csrf
  hasPlayground: boolean
  findSession(id: string): Promise<Principal | undefined>
}

const frameNotices = {
  'session-over': 'You are signed out, so nothing was changed. Sign in to go on.',
}
const defaultOrder = 100

/** A plugin below consolePath. */
export async function consoleRoutes(app: FastifyInstance, options: ConsoleOptions): Promise<void> {
  const { pages, cookies } = options
  const navigation = pages
    .flatMap((each) => each.navigation ?? [])
    .sort((a, b) => (a.order ?? defaultOrder) - (b.order ?? defaultOrder))
  const home = navigation[0]?.path ?? `${consolePath}/account`
  const notices = createNotices(cookies, Object.assign({}, frameNotices, ...pages.map((each) => each.notices ?? {})))
  const send = await addPages(app, {
    ...options,
    askToSignIn(reply, { next, wasPosted }) {
      const address = withNext(`${consolePath}/sign-in`, next)
      return wasPosted ? notices.redirect(reply, { address, notice: 'session-over' }) : reply.redirect(address, 303)
    },
    render: createLayout({ ...options, navigation }),
    renderProblem: problemPage,
  })
  app.decorateRequest('notice', undefined)
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET') request.notice = notices.take(request, reply)
  })
  const cards = createCards(pages)
  const config = { access: 'public', docs: false } as const

  serveAssets(app)
  app.get('/', { config }, (request, reply) => reply.redirect(request.principal ? home : `${consolePath}/sign-in`, 303))
  for (const each of pages) {
    const addRoutes = each.routes?.({ send, notices, cookies, cards, home })
    if (addRoutes) await app.register(async (own) => addRoutes(own))
  }
  app.get('/*', { config }, async (request, reply) => {
    const [path = ''] = request.url.split('?', 1)
    // With a slash at its end it is the same page's address. A proxy's form of it would name a host.
    if (path.startsWith('/') && path.endsWith('/'))
      return reply.redirect(path.slice(0, -1) + request.url.slice(path.length), 308)
    // A page says so too, not only a line of JSON.
    throw httpErrors.notFound()
  })
}
