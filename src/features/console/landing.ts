/** The page at `/`. It is the same for everybody but for the theme, so it reads no session and can be cached. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pageHeaders } from '../../platform/http/security-headers.ts'
import { addVary } from '../../platform/http/vary.ts'
import { defaultAppearance } from '../../platform/pages/frame/appearance.ts'
import type { ReadTheme } from '../../platform/pages/frame/theme.ts'
import { html } from '../../platform/pages/html.ts'
import { createLayout, type LayoutOptions } from '../../platform/pages/layout.ts'
import { pagePolicy } from '../../platform/pages/pages.ts'

export interface LandingOptions extends Omit<LayoutOptions, 'appearanceOf'> {
  hasProducts: boolean
  themeOf: ReadTheme
}

export function addLandingPage(app: FastifyInstance, options: LandingOptions): void {
  const { hasPlayground, hasProducts, themeOf } = options
  const appearanceOf = (request: FastifyRequest) => ({ ...defaultAppearance, theme: themeOf(request) })
  const render = createLayout({ ...options, appearanceOf })
  const places = [
    {
      path: '/console',
      name: 'Console',
      about: `${hasProducts ? 'Products, your' : 'Your'} account, and what else your role opens.`,
    },
    { path: '/docs', name: 'API', about: 'Every endpoint of the REST API, with examples to copy.' },
    { path: '/graphiql', name: 'GraphQL', about: 'Try queries, mutations and subscriptions in the browser.' },
  ].filter(({ path }) => path !== '/graphiql' || hasPlayground)
  const content = html`<section class="hero">
<img src="/console/assets/icon.svg" alt="" width="64" height="64">
<h1>Latchkey</h1>
<p>Sign-in${hasProducts && ', products'} and live updates, over REST, GraphQL and the pages of a console.</p>
</section>
<ul class="places">
${places.map(({ path, name, about }) => html`<li class="card"><h2><a href="${path}">${name}</a></h2><p>${about}</p></li>`)}
</ul>`

  app.get('/', { config: { access: 'public', docs: false } }, (request, reply) => {
    reply.headers({ ...pageHeaders(pagePolicy), 'cache-control': 'no-cache' }).type('text/html; charset=utf-8')
    addVary(reply, 'cookie')
    return reply.send(render({ title: 'Welcome', content }, request).text)
  })
}
