/** A service whose pages are opened in a browser, and checked there. */
import type { FastifyInstance } from 'fastify'
import type { ApiOptions, Owner } from './api.ts'
import { axeScript } from './axe.ts'
import { openBrowser, type Visit, type VisitOptions } from './browser.ts'
import { openConsole } from './console.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

export function startBrowsedApi(t: Owner, options: ApiOptions = {}): Promise<ApiWithRoles> {
  return startApiWithRoles(t, {
    ...options,
    async extend(app, parts) {
      keepAssets(app)
      app.get(axeScript.path, { config: { access: 'public', docs: false } }, async (_, reply) =>
        reply.type('text/javascript').send(axeScript.text),
      )
      await options.extend?.(app, parts)
    },
  })
}

/** A browser in which this user is signed in, which takes half as long as signing in there. */
export async function openSignedIn(
  t: Owner,
  api: ApiWithRoles,
  { email, ...options }: { email: string } & Partial<VisitOptions>,
): Promise<Visit> {
  const { cookies, signIn } = openConsole(api)
  await signIn(email)
  return openBrowser(t, { url: api.url, cookies, ...options })
}

/**
 * Lets the browser keep scripts and styles, which do not change during a test: asking for each of them again takes as long
 * as the rest of a page. That the service itself has them revalidated is for test/api/cache-headers.test.ts.
 */
function keepAssets(app: FastifyInstance): void {
  app.server.prependListener('request', ({ url = '' }, response) => {
    if (!/\.(?:js|css|svg)$/.test(url)) return
    // Of its overloads the one that Fastify calls.
    const writeHead = response.writeHead.bind(response) as (status: number, headers: object) => typeof response
    const keep = (status: number, headers: object) => writeHead(status, { ...headers, 'cache-control': 'max-age=3600' })
    response.writeHead = keep as typeof response.writeHead
  })
}
