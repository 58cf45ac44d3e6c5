/** The user:* commands that invite, disable and delete users, and set their passwords. */
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { confirm, readPassword } from '../../../platform/command-line/prompt.ts'
import { actor, type Context, getUser, print, requireKnownRoles, withAdmin, withRoles } from './users.ts'

export async function inviteUser(
  context: Context,
  given: { email: string; name: string; role: string[] },
): Promise<void> {
  await withAdmin(context, async ({ users, invitations, validateInvitation }) => {
    requireKnownRoles(users.roles, given.role)
    const { email, name } = validateInvitation({ email: given.email, name: given.name })
    const roles = given.role.length > 0 ? given.role : undefined
    const { user, inviteUrl } = await invitations.invite(actor, { email, name, roles })
    print(`invited user ${user.id}, ${user.email}${withRoles(user.roles)}`)
    print(inviteUrl ?? 'the link is on its way by mail')
  })
}

export async function setPassword(context: Context, email: string): Promise<void> {
  await withAdmin(context, async ({ admin, people }) => {
    const user = await getUser(admin, email)
    await people.setPassword(user, await readPassword(), actor)
    print(`${user.email} has a new password, and is signed out everywhere`)
  })
}

export async function disableUser(context: Context, email: string): Promise<void> {
  await withAdmin(context, async ({ admin, people }) => {
    const user = await getUser(admin, email)
    await people.change(actor, user.id, { disabled: true })
    print(`${user.email} is disabled${user.disabled_at === null ? '' : ', and was before'}`)
  })
}

export async function enableUser(context: Context, email: string): Promise<void> {
  await withAdmin(context, async ({ admin, people }) => {
    const user = await getUser(admin, email)
    await people.change(actor, user.id, { disabled: false })
    print(`${user.email} can sign in${user.disabled_at === null ? ', and could before' : ' again'}`)
  })
}

export async function deleteUser(context: Context, email: string, { yes = false }: { yes?: boolean }): Promise<void> {
  await withAdmin(context, async ({ admin, people }) => {
    const user = await getUser(admin, email)
    const isSure = yes || (await confirm(`Delete user ${user.id}, ${user.email}, for good?`))
    if (isSure === undefined) throw new FatalError('there is no terminal to ask on; add --yes', exitCodes.usage)
    if (!isSure) throw new FatalError('nothing is deleted', exitCodes.failure)
    await people.remove(actor, user.id)
    print(`deleted user ${user.id}, ${user.email}`)
  })
}
