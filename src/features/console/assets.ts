/** Styles and scripts of the pages: files of our own, asked for again only when they have changed. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { compressAnswer } from '../../platform/http/compression.ts'
import { isUnchanged } from '../../platform/http/conditions.ts'

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'
const files = {
  'console.css': style,
  'forms.css': style,
  'lists.css': style,
  'people.css': style,
  'console.js': script,
  'confirm.js': script,
  'live.js': script,
  'recovery-codes.js': script,
  'results.js': script,
  'search.js': script,
  'times.js': script,
  'icon.svg': 'image/svg+xml',
} as const

export function serveAssets(app: FastifyInstance): void {
  for (const [name, type] of Object.entries(files)) {
    const bytes = readFileSync(join(import.meta.dirname, 'assets', name))
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
    const config = { access: 'public', docs: false } as const
    app.get(`/assets/${name}`, { config, onSend: compressAnswer }, async (request, reply) => {
      reply.header('cache-control', 'no-cache')
      if (isUnchanged(request, reply, etag)) return reply.send()
      return reply.type(type).send(bytes)
    })
  }
}
