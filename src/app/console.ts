/** The console, and the page at `/` that leads to it. */
import type { FastifyInstance } from 'fastify'
import { isPlaygroundOpen } from '../config/config.ts'
import { consolePath, consoleRoutes } from '../features/console/console.routes.ts'
import { toQrCode } from '../features/two-factor/qr-code.ts'
import { createRegistrationSchema, Profile } from '../features/users/users.schema.ts'
import { compileBody, requireValid } from '../platform/http/validation.ts'
import { createCookies } from '../platform/web/cookies.ts'
import type { Ground } from './ground.ts'
import type { Services } from './services.ts'

export async function addConsole(app: FastifyInstance, { config, random }: Ground, services: Services): Promise<void> {
  const { auth, accounts, createLimiter } = services
  const { rateLimit, password } = config.auth
  const validateRegistration = compileBody(createRegistrationSchema(password))
  const validateProfile = compileBody(Profile)
  // The same share as the API has: whoever is refused there is refused here.
  const limiter = (name: keyof typeof rateLimit) => createLimiter(name, rateLimit[name])
  await app.register(consoleRoutes, {
    prefix: consolePath,
    random,
    cookies: createCookies({
      isHttps: config.server.publicUrl?.startsWith('https:') ?? false,
      // The browser keeps it for as long as a session can last; how long it lasts unused is not the browser's to say.
      maxAgeSeconds: auth.familyTtlSeconds,
    }),
    csrf: auth.csrf,
    hasPlayground: isPlaygroundOpen(config),
    login: auth.login,
    webSessions: auth.webSessions,
    users: accounts.users,
    passwords: auth.passwords,
    sessions: auth.sessions,
    twoFactor: auth.twoFactor,
    drawQrCode: toQrCode,
    admin: accounts.admin,
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
  app.get('/', { config: { access: 'public', docs: false } }, (_request, reply) => reply.redirect(consolePath, 303))
}
