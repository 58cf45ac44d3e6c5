/** The playground at `/graphiql`: GraphiQL as its package has it. Nothing on the page is from another host. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from '../../http/security-headers.ts'
import { serveFile } from '../../http/static-file.ts'

export interface PlaygroundOptions {
  /** Where it is off, its paths are as unknown as any other. */
  isOn: boolean
}

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

/** Every path of the playground, the file that it serves, of a package where one is named, and its type. */
export const playgroundFiles = {
  '/graphiql': { file: 'page.html', type: html },
  '/graphiql/start.js': { file: 'start.js', type: script },
  '/graphiql/subscriptions.js': { file: 'subscriptions.js', type: script },
  '/graphiql/style.css': { file: 'style.css', type: css },
  '/graphiql/graphiql.min.css': { of: 'graphiql', file: 'graphiql.min.css', type: css },
  '/graphiql/graphiql.min.js': { of: 'graphiql', file: 'graphiql.min.js', type: script },
  '/graphiql/react.production.min.js': { of: 'react', file: 'umd/react.production.min.js', type: script },
  '/graphiql/react-dom.production.min.js': { of: 'react-dom', file: 'umd/react-dom.production.min.js', type: script },
} satisfies Record<string, PageFile>

interface PageFile {
  of?: string
  file: string
  type: string
}

/** Of the style by which GraphiQL keeps the page behind a dialog from scrolling. It never changes: ours does not scroll. */
const scrollLock = "'sha256-nzTgYzXYDNe6BAHiiI7NNlfK8n/auuOAhh2t92YvuXo='"

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${scrollLock}`,
  'font-src data:',
  'img-src data:',
  // Covers the socket too: its host and port are those of the page.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function servePlayground(app: FastifyInstance, { isOn }: PlaygroundOptions): void {
  if (!isOn) return
  for (const [path, page] of Object.entries<PageFile>(playgroundFiles)) {
    const file = join(folderOf(page), page.file)
    serveFile(app, { path, file, type: page.type, headers: pageHeaders(pagePolicy) })
  }
}

const require = createRequire(import.meta.url)

function folderOf({ of: name }: PageFile): string {
  return name === undefined ? import.meta.dirname : dirname(require.resolve(`${name}/package.json`))
}
