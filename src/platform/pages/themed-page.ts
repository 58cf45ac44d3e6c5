/** A page that is the same for everybody but for its theme: made once for each, and revalidated with an ETag. */
import type { FastifyInstance } from 'fastify'
import { compressResponse } from '../http/compression.ts'
import { contentEtag, isUnchanged } from '../http/conditional-requests.ts'
import { addVary } from '../http/vary.ts'
import type { ReadTheme, Theme } from './frame/theme.ts'

export interface ThemedPage {
  path: string
  headers: Readonly<Record<string, string>>
  themeOf: ReadTheme
  make(theme: Theme): string
}

export function serveThemedPage(app: FastifyInstance, { path, headers, themeOf, make }: ThemedPage): void {
  const made = new Map<Theme, { text: string; etag: string }>()
  app.get(path, { config: { access: 'public', docs: false }, onSend: compressResponse }, async (request, reply) => {
    const theme = themeOf(request)
    const page = made.get(theme) ?? withEtag(make(theme))
    made.set(theme, page)
    reply.header('cache-control', 'no-cache').headers(headers)
    addVary(reply, 'cookie')
    if (isUnchanged(request, reply, page.etag)) return reply.send()
    return reply.type('text/html; charset=utf-8').send(page.text)
  })
}

function withEtag(text: string): { text: string; etag: string } {
  return { text, etag: contentEtag(text) }
}
