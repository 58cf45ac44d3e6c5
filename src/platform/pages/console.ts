/** The plugin below /console that serves the pages of all features. */

import type { FastifyInstance } from 'fastify'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../access/route-guards.ts'
import { httpErrors } from '../http/http-errors.ts'
import { namedPlugin } from '../http/named-plugin.ts'
import { serveAssets } from './assets.ts'
import { createCards } from './cards.ts'
import { problemPage } from './components/problem-page.ts'
import type { ConsolePages } from './console-pages.ts'
import type { Cookies } from './cookies.ts'
import type { Csrf } from './csrf.ts'
import { addAppearance, appearanceOf } from './frame/appearance.ts'
import { addDesignPage } from './frame/design.ts'
import { entriesFor } from './frame/navigation.ts'
import { addSearch } from './frame/search.ts'
import { addShortcuts } from './frame/shortcuts.ts'
import { createLayout } from './layout.ts'
import { withNext } from './next-page.ts'
import { createNotices } from './notices.ts'
import { addPages } from './pages.ts'

export const consolePath = '/console'
/** The path of its WebSocket. */
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

export async function consoleRoutes(app: FastifyInstance, options: ConsoleOptions): Promise<void> {
  const { pages, cookies } = options
  const navigation = pages
    .flatMap((each) => each.navigation ?? [])
    .sort((a, b) => (a.order ?? defaultOrder) - (b.order ?? defaultOrder))
  // One that is open to everybody.
  const home = navigation.find(({ permission }) => permission === undefined)?.path ?? `${consolePath}/account`
  const firstOf = (principal: Principal) => entriesFor(principal, navigation)[0]?.path ?? home
  const notices = createNotices(cookies, Object.assign({}, frameNotices, ...pages.map((each) => each.notices ?? {})))
  const send = await addPages(app, {
    ...options,
    askToSignIn(reply, { next, wasPosted }) {
      const address = withNext(`${consolePath}/sign-in`, next)
      return wasPosted ? notices.redirect(reply, { address, notice: 'session-over' }) : reply.redirect(address, 303)
    },
    render: createLayout({
      ...options,
      navigation,
      guestNavigation: pages.flatMap((each) => each.guestNavigation ?? []),
      appearanceOf: (request) => appearanceOf(request, cookies),
    }),
    renderProblem: problemPage,
  })
  app.decorateRequest('notice', undefined)
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET') request.notice = notices.take(request, reply)
  })
  const cards = createCards(pages)
  const signInOptions = pages.flatMap((each) => each.signInOptions ?? [])
  const config = { access: 'public', docs: false } as const

  serveAssets(
    app,
    pages.flatMap((each) => each.assets ?? []),
  )
  app.get('/', { config }, ({ principal }, reply) =>
    reply.redirect(principal ? firstOf(principal) : `${consolePath}/sign-in`, 303),
  )
  addAppearance(app, cookies)
  addSearch(app, { send, navigation, pages })
  addShortcuts(app, { send, navigation })
  addDesignPage(app, send)
  for (const each of pages) {
    const addRoutes = each.routes?.({ send, notices, cookies, cards, signInOptions, home })
    if (addRoutes) await app.register(namedPlugin('pages', async (own) => addRoutes(own)))
  }
  app.get('/*', { config }, async (request, reply) => {
    const [path = ''] = request.url.split('?', 1)
    // Redirect to the path without its trailing slash. In absolute form (RFC 9112, 3.2.2) the URL would name a host.
    if (path.startsWith('/') && path.endsWith('/'))
      return reply.redirect(path.slice(0, -1) + request.url.slice(path.length), 308)
    // Thrown inside this plugin, so that the error is shown as a page and not as JSON.
    throw httpErrors.notFound()
  })
}
