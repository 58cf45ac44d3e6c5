/** Serves GraphiQL at `/graphiql`, from its npm package: the page loads nothing from other hosts. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from '../../http/security-headers.ts'
import { serveFiles } from '../../http/static-file.ts'
import type { ReadTheme, Theme } from '../../pages/frame/theme.ts'
import { serveThemedPage } from '../../pages/themed-page.ts'

export interface PlaygroundOptions {
  /** If off, its paths are 404. */
  isOn: boolean
  /** The theme of the page, until somebody chooses another one in its settings. */
  themeOf: ReadTheme
}

const css = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

export const playgroundPath = '/graphiql'

/** Below its path: each from `packageName`, or from this folder. */
export const playgroundFiles = {
  'start.js': { file: 'start.js', type: script },
  'mend.js': { file: 'mend.js', type: script },
  'session.js': { file: 'session.js', type: script },
  'session-token.js': { file: '../../openapi/page/session-token.js', type: script },
  'subscriptions.js': { file: 'subscriptions.js', type: script },
  'style.css': { file: 'style.css', type: css },
  'graphiql.min.css': { packageName: 'graphiql', file: 'graphiql.min.css', type: css },
  'graphiql.min.js': { packageName: 'graphiql', file: 'graphiql.min.js', type: script },
  'react.production.min.js': { packageName: 'react', file: 'umd/react.production.min.js', type: script },
  'react-dom.production.min.js': {
    packageName: 'react-dom',
    file: 'umd/react-dom.production.min.js',
    type: script,
  },
} satisfies Record<string, PageFile>

interface PageFile {
  packageName?: string
  file: string
  type: string
}

/** The hash of the inline style by which GraphiQL disables scrolling behind a dialog. */
const scrollLock = "'sha256-nzTgYzXYDNe6BAHiiI7NNlfK8n/auuOAhh2t92YvuXo='"

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${scrollLock}`,
  'font-src data:',
  'img-src data:',
  // Includes WebSockets of the same host and port.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function servePlayground(app: FastifyInstance, { isOn, themeOf }: PlaygroundOptions): void {
  if (!isOn) return
  const headers = pageHeaders(pagePolicy)
  serveThemedPage(app, { path: playgroundPath, headers, themeOf, make: renderPage })
  const files = Object.entries<PageFile>(playgroundFiles).map(
    ([name, page]) => [name, { file: () => join(folderOf(page), page.file), type: page.type }] as const,
  )
  serveFiles(app, { prefix: playgroundPath, files: new Map(files), headers })
}

/** GraphiQL puts its theme into this class itself, but only after its scripts have run. */
function renderPage(theme: Theme): string {
  const page = readFileSync(join(import.meta.dirname, 'page.html'), 'utf8')
  return theme === 'system' ? page : page.replace('<body>', `<body class="graphiql-${theme}">`)
}

const require = createRequire(import.meta.url)

function folderOf({ packageName }: PageFile): string {
  return packageName === undefined ? import.meta.dirname : dirname(require.resolve(`${packageName}/package.json`))
}
