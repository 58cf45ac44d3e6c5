/** What `start` prints for a person at a terminal, below the log. */
import { type CoreConfig, isPlaygroundOpen } from '../config/config.ts'
import type { TerminalLink } from '../platform/feature.ts'

export interface Places {
  address: string
  config: Pick<CoreConfig, 'graphql' | 'isDevelopment'>
  links: readonly TerminalLink[]
}

export function describePlaces({ address, config, links }: Places): string {
  const places: TerminalLink[] = [
    { name: 'Console', url: `${address}/console` },
    { name: 'API', url: `${address}/docs` },
    ...(isPlaygroundOpen(config) ? [{ name: 'GraphQL', url: `${address}/graphiql` }] : []),
    ...links,
  ]
  const width = Math.max(...places.map(({ name }) => name.length))
  const lines = places.map(({ name, url, note }) => `  ${name.padEnd(width)}  ${url}${note ? `  (${note})` : ''}\n`)
  return `\n${lines.join('')}\n`
}
