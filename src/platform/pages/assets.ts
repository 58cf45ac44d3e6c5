/** Serves the styles and scripts of the console. */
import { basename, extname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type StaticFile, serveFiles } from '../http/static-file.ts'

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'
const files = {
  'tokens.css': style,
  'console.css': style,
  'design.css': style,
  'frame.css': style,
  'forms.css': style,
  'lists.css': style,
  'people.css': style,
  'tables.css': style,
  'console.js': script,
  'appearance.js': script,
  'back.js': script,
  'change-socket.js': script,
  'confirm.js': script,
  'copy.js': script,
  'drafts.js': script,
  'import.js': script,
  'live-state.js': script,
  'live.js': script,
  'menu.js': script,
  'network.js': script,
  'news.js': script,
  'palette.js': script,
  'picks.js': script,
  'relations.js': script,
  'results.js': script,
  'row-edit.js': script,
  'rows.js': script,
  'search.js': script,
  'sheet.js': script,
  'shortcuts.js': script,
  'times.js': script,
  'toasts.js': script,
  'icons.svg': 'image/svg+xml',
  'icon.svg': 'image/svg+xml',
} as const

const added: Readonly<Record<string, string>> = { '.css': style, '.js': script, '.svg': files['icon.svg'] }

/** Also those of features, by their paths. */
export function serveAssets(app: FastifyInstance, ofFeatures: readonly string[]): void {
  const served = new Map<string, StaticFile>(
    Object.entries(files).map(([name, type]) => [name, { file: join(import.meta.dirname, 'assets', name), type }]),
  )
  for (const file of ofFeatures) {
    const type = added[extname(file)]
    if (type === undefined) throw new Error(`${file} is neither a style, a script nor a picture`)
    const name = basename(file)
    if (served.has(name)) throw new Error(`${file}: there is another asset with this name`)
    served.set(name, { file, type })
  }
  serveFiles(app, { prefix: '/assets', files: served })
}
