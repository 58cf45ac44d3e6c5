/** Serves the API description: `/openapi.json` for programs, `/docs` for people. Each is made once, on the first request. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { compressResponse } from '../http/compression.ts'
import { isUnchanged } from '../http/conditional-requests.ts'
import { pageHeaders } from '../http/security-headers.ts'
import { serveFile } from '../http/static-file.ts'
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
  serve('/openapi.json', 'application/json; charset=utf-8', {}, () => JSON.stringify(build()))
  serve('/docs', 'text/html; charset=utf-8', pageHeaders(pagePolicy), () => renderPage(build(), base))
  for (const [name, type] of Object.entries(docsFiles)) {
    serveFile(app, { path: `/docs/${name}`, file: join(import.meta.dirname, 'page', name), type })
  }

  function serve(path: string, type: string, headers: Record<string, string>, make: () => string): void {
    const content = once(() => {
      const text = make()
      return { text, etag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"` }
    })
    app.get(path, { config: { access: 'public', docs: false }, onSend: compressResponse }, async (request, reply) => {
      const { text, etag } = content()
      reply.header('cache-control', 'no-cache').headers(headers)
      return isUnchanged(request, reply, etag) ? reply.send() : reply.type(type).send(text)
    })
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
