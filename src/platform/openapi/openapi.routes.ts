/** Serves the API description: `/openapi.json` for programs, `/docs` for people. Each is made on the first request. */

import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { once } from '../../core/once.ts'
import { compressResponse } from '../http/compression.ts'
import { contentEtag, isUnchanged } from '../http/conditional-requests.ts'
import { pageHeaders } from '../http/security-headers.ts'
import { serveFiles } from '../http/static-file.ts'
import { createThemeReader } from '../pages/frame/theme.ts'
import { serveThemedPage } from '../pages/themed-page.ts'
import { type AddedRoute, type BuildOptions, buildDocument } from './build.ts'
import { renderPage } from './page/page.ts'

export interface DocsOptions extends BuildOptions {
  port: number
}

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  // "Try it" sends requests to this service only.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Styles and scripts of the page, by name. */
export const docsFiles = {
  'style.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'try-it.js': 'text/javascript; charset=utf-8',
  'access.js': 'text/javascript; charset=utf-8',
  'session-token.js': 'text/javascript; charset=utf-8',
} as const

/** Call before adding routes. */
export function serveDocs(app: FastifyInstance, options: DocsOptions): void {
  const routes: AddedRoute[] = []
  app.addHook('onRoute', (route) => void routes.push({ url: route.url, route }))

  const build = once(() => buildDocument(routes, options))
  const base = options.publicUrl ?? `http://localhost:${options.port}`
  const json = once(() => {
    const text = JSON.stringify(build())
    return { text, etag: contentEtag(text) }
  })
  const config = { access: 'public', docs: false } as const
  app.get('/openapi.json', { config, onSend: compressResponse }, async (request, reply) => {
    const { text, etag } = json()
    reply.header('cache-control', 'no-cache')
    return isUnchanged(request, reply, etag) ? reply.send() : reply.type('application/json; charset=utf-8').send(text)
  })
  serveThemedPage(app, {
    path: '/docs',
    headers: pageHeaders(pagePolicy),
    themeOf: createThemeReader(options.publicUrl),
    make: (theme) => renderPage(build(), { base, theme }),
  })
  const files = Object.entries(docsFiles).map(
    ([name, type]) => [name, { file: join(import.meta.dirname, 'page', name), type }] as const,
  )
  serveFiles(app, { prefix: '/docs', files: new Map(files) })
}
