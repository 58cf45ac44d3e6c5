/** Serves the styles and scripts of the console. */
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { serveFile } from '../http/static-file.ts'

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'
const files = {
  'console.css': style,
  'forms.css': style,
  'lists.css': style,
  'people.css': style,
  'console.js': script,
  'back.js': script,
  'confirm.js': script,
  'drafts.js': script,
  'live.js': script,
  'recovery-codes.js': script,
  'results.js': script,
  'rows.js': script,
  'search.js': script,
  'times.js': script,
  'icon.svg': 'image/svg+xml',
} as const

export function serveAssets(app: FastifyInstance): void {
  for (const [name, type] of Object.entries(files)) {
    serveFile(app, { path: `/assets/${name}`, file: join(import.meta.dirname, 'assets', name), type })
  }
}
