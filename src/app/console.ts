/** The console: the pages of all features in one layout, and the WebSocket that their scripts subscribe on. */

import type { FastifyInstance } from 'fastify'
import { isPlaygroundOpen } from '../config/config.ts'
import { createOwnOriginCheck } from '../platform/graphql/websocket/upgrade.ts'
import type { UpgradeEndpoint } from '../platform/graphql/websocket/upgrade-server.ts'
import { namedPlugin } from '../platform/http/named-plugin.ts'
import { consolePath, consoleRoutes, livePath } from '../platform/pages/console.ts'
import { createCookies } from '../platform/pages/cookies.ts'
import { createCsrf } from '../platform/pages/csrf.ts'
import type { Service } from './open-service.ts'

/** Returns the endpoint of its WebSocket, by path. */
export async function addConsole(
  app: FastifyInstance,
  { infrastructure, joined, graphql }: Pick<Service, 'infrastructure' | 'joined' | 'graphql'>,
): Promise<Record<string, UpgradeEndpoint>> {
  const { config, log, random, secrets } = infrastructure
  const { publicUrl } = config.server
  const isHttps = publicUrl?.startsWith('https:') ?? false
  if (!isHttps && !config.isDevelopment) {
    log.warn('server.public_url is not https: browsers send the cookies of the console over plain http too')
  }
  const cookies = createCookies({
    isHttps,
    // The longest a session can last. The server enforces the shorter idle limit.
    maxAgeSeconds: joined.signIn.maxSessionSeconds,
  })
  await app.register(namedPlugin('console', consoleRoutes), {
    prefix: consolePath,
    pages: joined.pages,
    random,
    cookies,
    csrf: createCsrf({ secret: secrets.current, random }),
    hasPlayground: isPlaygroundOpen(config),
    findSession: joined.signIn.findBrowserSession,
  })
  return {
    [livePath]: {
      isAllowed: createOwnOriginCheck(publicUrl),
      credentialOf: ({ headers }) => ({ token: cookies.sessionIn(headers.cookie) }),
      authenticate: joined.signIn.peekBrowserSession,
      engine: graphql.consoleEngine,
    },
  }
}
