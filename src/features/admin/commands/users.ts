/** The user:* commands. They check no role: access to the machine is access to everything. */

import { AppError } from '../../../core/app-error.ts'
import { normaliseEmail } from '../../../core/email.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { CommandContext } from '../../../platform/command-line/command.ts'
import { readPassword } from '../../../platform/command-line/prompt.ts'
import { describeDetails } from '../../../platform/validation/body-validation.ts'
import type { AdminService } from '../admin.create.ts'
import type { Actor, Admin } from '../admin.service.ts'
import type { ListedUser } from '../admin.store.ts'

export const client = { address: 'local', userAgent: 'command line' }
export const actor: Actor = { id: null, holder: undefined, client }

export type Context = Pick<CommandContext<AdminService>, 'open'>

/** Turns a refusal into one line. */
export async function withAdmin({ open }: Context, work: (service: AdminService) => Promise<void>): Promise<void> {
  const { service, close } = await open()
  try {
    await service.users.normaliseEmails()
    await work(service)
  } catch (error) {
    throw error instanceof AppError && error.status < 500
      ? new FatalError(describeDetails(error) ?? error.message, exitCodes.failure, { cause: error })
      : error
  } finally {
    await close()
  }
}

export async function createUser(
  context: Context,
  given: { email: string; name: string; role: string[] },
): Promise<void> {
  await withAdmin(context, async ({ users, admin }) => {
    requireKnownRoles(users.roles, given.role)
    const password = await readPassword()
    const registration = { email: given.email, name: given.name, password }
    users.validateRegistration(registration)
    const { id, email } = await users.register({ ...registration, client })
    if (given.role.length > 0) await admin.setRoles(actor, id, given.role)
    print(`created user ${id}, ${email}${withRoles(given.role)}`)
  })
}

export async function changeRoles(
  context: Context,
  email: string,
  change: { set?: string; add?: string; remove?: string },
): Promise<void> {
  await withAdmin(context, async ({ admin }) => {
    const user = await getUser(admin, email)
    const isChange = change.set !== undefined || change.add !== undefined || change.remove !== undefined
    const start = change.set === undefined ? user.roles : split(change.set)
    const removed = split(change.remove)
    const wanted = [...start, ...split(change.add)].filter((role) => !removed.includes(role))
    const { roles } = isChange ? await admin.setRoles(actor, user.id, wanted) : user
    print(`${user.email}: ${roles.length > 0 ? roles.join(', ') : 'no roles'}`)
  })
}

export async function unlockUser(context: Context, email: string): Promise<void> {
  await withAdmin(context, async ({ admin }) => {
    const user = await getUser(admin, email)
    await admin.unlock(actor, user.id)
    print(`${user.email} is not locked${user.locked_until === null ? ', and was not' : ' any more'}`)
  })
}

export async function listUsers(context: Context): Promise<void> {
  await withAdmin(context, async ({ admin }) => {
    for (let page = 1; ; page++) {
      const { users, total } = await admin.list('', { page, perPage: 100 })
      for (const { id, email, name, roles, two_factor, locked_until, disabled_at } of users) {
        const states = [...(locked_until === null ? [] : ['locked']), ...(disabled_at === null ? [] : ['disabled'])]
        const notes = [roles.join(','), two_factor ? '2fa' : '', states.join(',')]
        print([id, email, name.replaceAll('\t', ' '), ...notes].join('\t'))
      }
      if (page * 100 >= total) return
    }
  })
}

export async function getUser(admin: Admin, email: string): Promise<ListedUser> {
  const user = await admin.findByEmail(normaliseEmail(email))
  if (!user) throw wrong(`there is no user ${email}`)
  return user
}

export function requireKnownRoles(roles: AdminService['users']['roles'], names: readonly string[]): void {
  const unknown = names.filter((role) => !roles.has(role))
  if (unknown.length > 0) throw wrong(`unknown role ${unknown.join(', ')}; there are ${roles.names().join(', ')}`)
}

export function withRoles(names: readonly string[]): string {
  return names.length > 0 ? `, with the roles ${names.join(', ')}` : ''
}

function split(list = ''): string[] {
  return list
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '')
}

export function wrong(message: string): FatalError {
  return new FatalError(message, exitCodes.badData)
}

/** Names come from users: line breaks and terminal control characters are replaced. */
export function print(line: string): void {
  process.stdout.write(`${line.replace(/(?!\t)\p{C}/gu, '\u{fffd}')}\n`)
}
