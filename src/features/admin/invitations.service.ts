/** Invites users. They set their password with a link, which is mailed or, without mail, returned to the administrator. */
import { accountErrors } from '../../core/account-errors.ts'
import { AppError } from '../../core/app-error.ts'
import { normaliseEmail } from '../../core/email.ts'
import { ConstraintError, type Database, rowOf } from '../../platform/database/database.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import { type Actor, type Admin, unknownRoles } from './admin.service.ts'
import type { AdminStore, ListedUser } from './admin.store.ts'
import { invitationMessage } from './invitation-message.ts'
import { isStillInvited } from './people.store.ts'

export interface Invitation {
  email: string
  name: string
  /** The configured default roles if undefined. */
  roles: readonly string[] | undefined
}

export interface Invited {
  user: ListedUser
  /** Undefined if it was mailed. */
  inviteUrl: string | undefined
}

export interface InvitationsDeps {
  db: Database
  store: AdminStore
  acts: Admin['acts']
  users: UsersService
  auth: AuthService
  /** The start of links, such as `https://app.example.com`. Empty if it is not configured. */
  baseUrl: string
}

const event = 'user_invited'

export function createInvitations({ db, store, acts, users, auth, baseUrl }: InvitationsDeps) {
  const { mail, outbox, mailedTokens } = auth
  const { covers, findTarget, done, refuse } = acts

  async function deliver(userId: number, token: string): Promise<Invited> {
    const stored = await store.find(userId)
    if (!stored) throw httpErrors.notFound()
    const { user } = stored
    const link = `${baseUrl}/console/invitation?token=${token}`
    // In development mails are written to the log. Administrators get the link in the response instead.
    if (mail?.delivery !== 'mail') return { user, inviteUrl: link }
    outbox.post('invitation mail', () => mail.send(invitationMessage({ to: user.email, link, token })))
    return { user, inviteUrl: undefined }
  }

  async function invite(actor: Actor, { email: given, name, roles: chosen }: Invitation): Promise<Invited> {
    const roles = [...new Set(chosen ?? users.defaultRoles)]
    const unknown = roles.filter((role) => !users.roles.has(role))
    if (unknown.length > 0) throw unknownRoles(unknown)
    const act = { event, actor, ...(roles.length > 0 && { changes: { roles: { from: [], to: roles } } }) }
    if (!covers(actor, roles)) throw await refuse({ ...act, userId: null }, httpErrors.forbidden())
    const email = normaliseEmail(given)
    const { token, insert } = mailedTokens.create({ purpose: 'invitation', userId: rowOf(0, 'id') })
    const [[made] = []] = await db
      .write<{ id: number }>(
        users.changes.insert({ email, name, passwordHash: '', roles, client: actor.client }),
        insert,
        done({ ...act, userId: rowOf(0, 'id') }),
      )
      .catch((error: unknown): never => {
        throw error instanceof ConstraintError && error.kind === 'unique' ? accountErrors.emailTaken() : error
      })
    if (!made) throw httpErrors.unavailable()
    await users.onRegistered({ id: made.id, email })
    return deliver(made.id, token)
  }

  /** Creates a new link and voids the earlier ones. */
  async function renew(actor: Actor, id: number | undefined): Promise<Invited> {
    const stored = await findTarget({ event, actor }, id)
    const { user, isInvited } = stored
    if (!isInvited || user.disabled_at !== null) throw notInvited()
    const { token, insert } = mailedTokens.create({ purpose: 'invitation', userId: user.id })
    const [passed] = await db.write(
      isStillInvited(stored),
      mailedTokens.voidAll(user.id),
      insert,
      done({ event, actor, userId: user.id }),
    )
    if (passed?.length) return deliver(user.id, token)
    const now = await store.find(user.id)
    throw now?.isInvited ? tooManyAttempts(3600) : notInvited()
  }

  return { invite, renew, delivery: mail?.delivery ?? 'none' }
}

export type Invitations = ReturnType<typeof createInvitations>

/** The user has already set a password, or is disabled. */
export function notInvited(): AppError {
  return new AppError(409, 'User has no open invitation')
}
