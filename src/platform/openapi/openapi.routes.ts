/** Serves the API description: `/openapi.json` for programs, `/docs` for people. Both are built on the first request. */
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { compressResponse } from '../http/compression.ts'
import { pageHeaders } from '../http/security-headers.ts'
import { serveFile } from '../http/static-file.ts'
import { type AddedRoute, type BuildOptions, buildDocument } from './build.ts'
import { renderPage } from './page/page.ts'

export interface DocsOptions extends BuildOptions {
  port: number
}

const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Call before adding routes. */
export function serveDocs(app: FastifyInstance, options: DocsOptions): void {
  const routes: AddedRoute[] = []
  app.addHook('onRoute', (route) => void routes.push({ url: route.url, route }))

  const build = once(() => buildDocument(routes, options))
  const document = once(() => JSON.stringify(build()))
  const page = once(() => renderPage(build(), options.publicUrl ?? `http://localhost:${options.port}`))

  const config = { access: 'public', docs: false } as const
  app.get('/openapi.json', { config, onSend: compressResponse }, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(document()),
  )
  app.get('/docs', { config, onSend: compressResponse }, async (_request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .headers(pageHeaders(pagePolicy))
      .type('text/html; charset=utf-8')
      .send(page()),
  )
  const style = join(import.meta.dirname, 'page', 'style.css')
  serveFile(app, { path: '/docs/style.css', file: style, type: 'text/css; charset=utf-8' })
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
