/** Serves the styles and scripts of the console. */
import { basename, extname, join } from 'node:path'
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
  'copy.js': script,
  'drafts.js': script,
  'live.js': script,
  'results.js': script,
  'rows.js': script,
  'search.js': script,
  'times.js': script,
  'icon.svg': 'image/svg+xml',
} as const

const added: Readonly<Record<string, string>> = { '.css': style, '.js': script, '.svg': files['icon.svg'] }

/** Also those of features, by their paths. */
export function serveAssets(app: FastifyInstance, ofFeatures: readonly string[]): void {
  for (const [name, type] of Object.entries(files)) {
    serveFile(app, { path: `/assets/${name}`, file: join(import.meta.dirname, 'assets', name), type })
  }
  for (const file of ofFeatures) {
    const type = added[extname(file)]
    if (type === undefined) throw new Error(`${file} is neither a style, a script nor a picture`)
    serveFile(app, { path: `/assets/${basename(file)}`, file, type })
  }
}
