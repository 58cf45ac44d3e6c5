/** While no user has the permission `*`, a link creates the first administrator. */
import { accountErrors } from '../../core/account-errors.ts'
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import { normaliseEmail } from '../../core/email.ts'
import type { Random } from '../../core/random.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { TerminalLink } from '../../platform/feature.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import type { SetUpStore } from './set-up.store.ts'

export const setUpPath = '/console/setup'

/**
 * A start voids the links of earlier starts, but not those of the last minute: nodes that are started together each log
 * a link, and all of these must work, because nobody can tell which node was the last. A link from `latchkey setup` voids
 * all others: the person who asked for it may do so because another one got into wrong hands.
 */
const startingTogetherSeconds = 60

export type Link = { kind: 'link'; url: string } | { kind: 'has_administrator' } | { kind: 'no_role' }

export interface Given {
  token: string
  email: string
  name: string
  password: string
  client: Client
}

export interface SetUpDeps {
  store: SetUpStore
  clock: Clock
  random: Random
  log: Log
  audit: Pick<Audit, 'count'>
  users: UsersService
  auth: AuthService
  onRegistered(user: { id: number; email: string }): Promise<void>
}

/** The same error for used, expired and unknown links. */
export function linkOver(): AppError {
  return new AppError(410, 'Set-up link does not work')
}

export function createSetUp(deps: SetUpDeps) {
  const { store, clock, random, log, audit, users, auth } = deps
  const administrators = users.roles.administrators()
  const role = administrators.includes('admin') ? 'admin' : administrators[0]
  // Cached, because anybody may request the page. The last administrator cannot be removed, so it stays true.
  let hasAdministrator = false

  async function findLink(address: string, voidedBefore: number): Promise<Link> {
    if (role === undefined) return { kind: 'no_role' }
    if (await store.hasAdministrator()) {
      hasAdministrator = true
      return { kind: 'has_administrator' }
    }
    return { kind: 'link', url: `${address}${setUpPath}?token=${await store.createToken(voidedBefore)}` }
  }

  /** Throws 404 if there is an administrator, whatever the token, and 410 if the token is invalid. */
  async function requireLink(token: string): Promise<string> {
    if (!hasAdministrator && role !== undefined) hasAdministrator = await store.hasAdministrator()
    if (hasAdministrator || role === undefined) throw httpErrors.notFound()
    if (!(await store.isValid(token))) throw linkOver()
    return role
  }

  return {
    requireLink,

    /** Logs a link if there is no administrator. */
    async announce(address: string): Promise<TerminalLink[]> {
      const link = await findLink(address, clock.nowSeconds() - startingTogetherSeconds)
      if (link.kind === 'no_role') {
        log.warn('no role of auth.roles holds "*": nobody can administer the service, and there is no set-up link')
      }
      if (link.kind !== 'link') return []
      log.info({ setupUrl: link.url }, 'nobody is an administrator yet; this link makes one, once, within 30 minutes')
      return [{ name: 'Set-up', url: link.url, note: 'works once, for 30 minutes' }]
    },

    /** For the command `setup`. */
    createLink: (address: string) => findLink(address, Number.MAX_SAFE_INTEGER),

    async makeAdministrator({ token, email, name, password, client }: Given): Promise<{ id: number; email: string }> {
      const required = await requireLink(token)
      users.validateRegistration({ email, name, password })
      users.requireImpersonal({ field: 'password', password, email, name })
      const user = {
        email: normaliseEmail(email),
        name,
        passwordHash: await users.passwords.hash(password, client),
        roles: [required],
        client,
      }
      const finished = await store.finish(token, user)
      if (finished.kind === 'email_taken') throw accountErrors.emailTaken()
      if (finished.kind === 'refused') {
        // A parallel set-up was faster, with this link or another.
        await requireLink(token)
        throw linkOver()
      }
      hasAdministrator = true
      audit.count('set_up', 'success')
      const made = { id: finished.id, email: user.email }
      await deps.onRegistered(made)
      return made
    },

    /** Undefined if the email is locked after failed attempts. */
    async signIn(user: { id: number; email: string }, from: { deviceToken: string | undefined; client: Client }) {
      const account = await auth.accounts.findById(user.id)
      if (!account) return undefined
      const origin = await auth.login.findOrigin({ email: user.email, account, deviceToken: from.deviceToken })
      return auth.login.complete(account, {
        ...origin,
        family: random.id(),
        event: 'login',
        client: from.client,
        before: [auth.accounts.stillHasVersionAlone(account.id, account.token_version)],
        also: [],
      })
    },
  }
}

export type SetUp = ReturnType<typeof createSetUp>
