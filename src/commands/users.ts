/** The user:* commands. Whoever can run them can do anything: no role is asked for. */
import { createAccounts } from '../app/accounts.ts'
import { openInfrastructure } from '../app/infrastructure.ts'
import { createOneShotAccessNotice } from '../app/one-shot-access-notice.ts'
import { AppError } from '../core/app-error.ts'
import { normaliseEmail } from '../core/email.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import type { Actor, Admin } from '../features/admin/admin.service.ts'
import type { ListedUser } from '../features/admin/admin.store.ts'
import { normaliseEmails } from '../features/users/user-keys.ts'
import { createRegistrationSchema } from '../features/users/users.schema.ts'
import { compileBody, describeDetails } from '../platform/validation/body-validation.ts'
import { readPassword } from './prompt.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

const client = { address: 'local', userAgent: 'command line' }
const actor: Actor = { id: null, roles: undefined, client }

type Accounts = ReturnType<typeof createAccounts>

/** Opens what the commands need, and says what goes wrong in one line. */
async function withAccounts(
  options: GlobalOptions,
  work: (accounts: Accounts, config: Config) => Promise<void>,
): Promise<void> {
  const { config, log } = readSettings(options, { forService: false })
  const infrastructure = await openInfrastructure({ config, log })
  try {
    await normaliseEmails(infrastructure)
    await work(createAccounts(infrastructure, createOneShotAccessNotice(infrastructure)), config)
  } catch (error) {
    throw error instanceof AppError
      ? new FatalError(describeDetails(error) ?? error.message, exitCodes.failure, { cause: error })
      : error
  } finally {
    await infrastructure.close()
  }
}

type Config = ReturnType<typeof readSettings>['config']

export async function createUser(
  given: { email: string; name: string; role: string[] },
  options: GlobalOptions,
): Promise<void> {
  await withAccounts(options, async ({ users, admin, roles }, config) => {
    const unknown = given.role.filter((role) => !roles.has(role))
    if (unknown.length > 0) throw wrong(`unknown role ${unknown.join(', ')}; there are ${roles.names().join(', ')}`)
    const password = await readPassword()
    const registration = { email: given.email, name: given.name, password }
    const checked = compileBody(createRegistrationSchema(config.auth.password))(registration)
    if ('error' in checked) throw checked.error
    const { id, email } = await users.register({ ...registration, client })
    if (given.role.length > 0) await admin.setRoles(actor, id, given.role)
    print(`created user ${id}, ${email}${given.role.length > 0 ? `, with the roles ${given.role.join(', ')}` : ''}`)
  })
}

export async function changeRoles(
  email: string,
  change: { set?: string; add?: string; remove?: string },
  options: GlobalOptions,
): Promise<void> {
  await withAccounts(options, async ({ admin }) => {
    const user = await getUser(admin, email)
    const isChange = change.set !== undefined || change.add !== undefined || change.remove !== undefined
    const start = change.set === undefined ? user.roles : split(change.set)
    const removed = split(change.remove)
    const wanted = [...start, ...split(change.add)].filter((role) => !removed.includes(role))
    const { roles } = isChange ? await admin.setRoles(actor, user.id, wanted) : user
    print(`${user.email}: ${roles.length > 0 ? roles.join(', ') : 'no roles'}`)
  })
}

export async function unlockUser(email: string, options: GlobalOptions): Promise<void> {
  await withAccounts(options, async ({ admin }) => {
    const user = await getUser(admin, email)
    await admin.unlock(actor, user.id)
    print(`${user.email} is not locked${user.locked_until === null ? ', and was not' : ' any more'}`)
  })
}

export async function listUsers(options: GlobalOptions): Promise<void> {
  await withAccounts(options, async ({ admin }) => {
    for (let page = 1; ; page++) {
      const { users, total } = await admin.list('', { page, perPage: 100 })
      for (const { id, email, name, roles, two_factor, locked_until } of users) {
        const notes = [roles.join(','), two_factor ? '2fa' : '', locked_until === null ? '' : 'locked']
        print([id, email, name.replaceAll('\t', ' '), ...notes].join('\t'))
      }
      if (page * 100 >= total) return
    }
  })
}

async function getUser(admin: Admin, email: string): Promise<ListedUser> {
  const user = await admin.findByEmail(normaliseEmail(email))
  if (!user) throw wrong(`there is no user ${email}`)
  return user
}

function split(list = ''): string[] {
  return list
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '')
}

function wrong(message: string): FatalError {
  return new FatalError(message, exitCodes.badData)
}

/** Names are anybody's: line breaks and what a terminal would obey are not printed. */
function print(line: string): void {
  process.stdout.write(`${line.replace(/(?!\t)\p{C}/gu, '\u{fffd}')}\n`)
}
