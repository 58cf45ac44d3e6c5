/** The console, and the page at `/` that leads to it. */
import type { FastifyInstance } from 'fastify'
import { isPlaygroundOpen } from '../config/config.ts'
import { consolePath, consoleRoutes, livePath } from '../features/console/console.routes.ts'
import { addLandingPage } from '../features/console/landing.ts'
import { toQrCode } from '../features/two-factor/qr-code.ts'
import { createRegistrationSchema, Profile } from '../features/users/users.schema.ts'
import { createOwnOriginCheck } from '../platform/graphql/websocket/upgrade.ts'
import type { UpgradeEndpoint } from '../platform/graphql/websocket/upgrade-server.ts'
import { createCookies } from '../platform/pages/cookies.ts'
import { compileBody, requireValid } from '../platform/validation/body-validation.ts'
import { createConsoleProducts } from './console-products.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Services } from './services.ts'

/** Returns the endpoint for its sockets, by path. */
export async function addConsole(
  app: FastifyInstance,
  { config, log, random }: Infrastructure,
  services: Services,
): Promise<Record<string, UpgradeEndpoint>> {
  const { auth, accounts, createLimiter } = services
  const { rateLimit, password } = config.auth
  const validateRegistration = compileBody(createRegistrationSchema(password))
  const validateProfile = compileBody(Profile)
  // The same share as the API has: whoever is refused there is refused here.
  const limiter = (name: keyof typeof rateLimit) => createLimiter(name, rateLimit[name])
  const { publicUrl } = config.server
  const isHttps = publicUrl?.startsWith('https:') ?? false
  if (!isHttps && !config.isDevelopment) {
    log.warn('server.public_url is not https: browsers send the cookies of the console over plain http too')
  }
  const cookies = createCookies({
    isHttps,
    // The browser keeps it for as long as a session can last; how long it lasts unused is not the browser's to say.
    maxAgeSeconds: auth.familyTtlSeconds,
  })
  const hasPlayground = isPlaygroundOpen(config)
  addLandingPage(app, { hasPlayground })
  await app.register(consoleRoutes, {
    prefix: consolePath,
    random,
    cookies,
    csrf: auth.csrf,
    hasPlayground,
    login: auth.login,
    webSessions: auth.webSessions,
    users: accounts.users,
    passwords: auth.passwords,
    sessions: auth.sessions,
    twoFactor: auth.twoFactor,
    drawQrCode: toQrCode,
    admin: accounts.admin,
    products: createConsoleProducts(config.products, services.products),
    findPasswordProblems: auth.findPasswordProblems,
    validateRegistration: (given: object) => requireValid(validateRegistration, given),
    validateProfile: (given: object) => requireValid(validateProfile, given),
    limiters: {
      login: limiter('login'),
      register: limiter('register'),
      verify: limiter('verify'),
      reset: limiter('reset'),
      confirm: createLimiter('confirm', rateLimit.verify),
    },
  })
  const live: UpgradeEndpoint = {
    isAllowed: createOwnOriginCheck(publicUrl),
    credentialOf: ({ headers }) => ({ token: cookies.sessionIn(headers.cookie) }),
    authenticate: auth.webSessions.look,
    engine: services.graphql.consoleEngine,
  }
  return { [livePath]: live }
}
