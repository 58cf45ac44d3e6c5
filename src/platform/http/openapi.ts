/** The description of the API: `/openapi.json` for programs, `/docs` for people. Made once, when all routes are known. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { compressAnswer } from './compression.ts'
import { renderPage } from './docs-page/page.ts'
import { type AddedRoute, type BuildOptions, buildDocument } from './openapi/build.ts'

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

/** Call before any route is added. */
export function serveDocs(app: FastifyInstance, options: DocsOptions): void {
  const routes: AddedRoute[] = []
  app.addHook('onRoute', (route) => void routes.push({ url: route.url, route }))

  let document = ''
  let page = ''
  const style = readFileSync(join(import.meta.dirname, 'docs-page', 'style.css'), 'utf8')
  app.addHook('onReady', async () => {
    const built = buildDocument(routes, options)
    document = JSON.stringify(built)
    page = renderPage(built, options.publicUrl ?? `http://localhost:${options.port}`)
  })

  const config = { access: 'public', docs: false } as const
  app.get('/openapi.json', { config, onSend: compressAnswer }, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(document),
  )
  app.get('/docs', { config, onSend: compressAnswer }, async (_request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .header('content-security-policy', pagePolicy)
      .type('text/html; charset=utf-8')
      .send(page),
  )
  app.get('/docs/style.css', { config, onSend: compressAnswer }, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('text/css; charset=utf-8').send(style),
  )
}
