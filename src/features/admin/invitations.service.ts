/** Invites users. They set their password with a link, which is mailed or, without mail, returned to the administrator. */
import { accountErrors } from '../../core/account-errors.ts'
import { AppError } from '../../core/app-error.ts'
import { normaliseEmail } from '../../core/email.ts'
import { ConstraintError, type Database, type Param, rowOf, type Statement } from '../../platform/database/database.ts'
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

type NewToken = ReturnType<AuthService['mailedTokens']['create']>

/** How an invitation reaches its user. */
interface Delivery {
  /** For the batch with the invitation. */
  statements: readonly Statement[]
  inviteUrl: string | undefined
  send(): void
}

const event = 'user_invited'

export function createInvitations({ db, store, acts, users, auth, baseUrl }: InvitationsDeps) {
  const { mail, mailedTokens } = auth
  const { covers, findTarget, done, refuse } = acts

  function prepareDelivery(to: { userId: Param; email: string }, { token, lifetimeSeconds }: NewToken): Delivery {
    const link = `${baseUrl}/console/invitation?token=${token}`
    // In development mails are written to the log. Administrators get the link in the response instead.
    if (mail?.delivery !== 'mail') return { statements: [], inviteUrl: link, send() {} }
    const message = invitationMessage({ to: to.email, link, token })
    const prepared = mail.prepare({ kind: 'invitation', userId: to.userId, message, lifetimeSeconds })
    return { statements: [prepared.statement], inviteUrl: undefined, send: prepared.send }
  }

  async function deliver(userId: number, { inviteUrl, send }: Delivery): Promise<Invited> {
    send()
    const stored = await store.find(userId)
    if (!stored) throw httpErrors.notFound()
    return { user: stored.user, inviteUrl }
  }

  async function invite(actor: Actor, { email: given, name, roles: chosen }: Invitation): Promise<Invited> {
    const roles = [...new Set(chosen ?? users.defaultRoles)]
    const unknown = roles.filter((role) => !users.roles.has(role))
    if (unknown.length > 0) throw unknownRoles(unknown)
    const act = { event, actor, ...(roles.length > 0 && { changes: { roles: { from: [], to: roles } } }) }
    if (!covers(actor, roles)) throw await refuse({ ...act, userId: null }, httpErrors.forbidden())
    const email = normaliseEmail(given)
    const invitation = mailedTokens.create({ purpose: 'invitation', userId: rowOf(0, 'id') })
    const delivery = prepareDelivery({ userId: rowOf(0, 'id'), email }, invitation)
    const [[made] = []] = await db
      .write<{ id: number }>(
        users.changes.insert({ email, name, passwordHash: '', roles, client: actor.client }),
        invitation.insert,
        done({ ...act, userId: rowOf(0, 'id') }),
        ...delivery.statements,
      )
      .catch((error: unknown): never => {
        throw error instanceof ConstraintError && error.kind === 'unique' ? accountErrors.emailTaken() : error
      })
    if (!made) throw httpErrors.unavailable()
    await users.onRegistered({ id: made.id, email })
    return deliver(made.id, delivery)
  }

  /** Creates a new link and voids the earlier ones. */
  async function renew(actor: Actor, id: number | undefined): Promise<Invited> {
    const stored = await findTarget({ event, actor }, id)
    const { user, isInvited } = stored
    if (!isInvited || user.disabled_at !== null) throw notInvited()
    const invitation = mailedTokens.create({ purpose: 'invitation', userId: user.id })
    const delivery = prepareDelivery({ userId: user.id, email: user.email }, invitation)
    const [passed] = await db.write(
      isStillInvited(stored),
      mailedTokens.voidAll(user.id),
      invitation.insert,
      done({ event, actor, userId: user.id }),
      ...delivery.statements,
    )
    if (passed?.length) return deliver(user.id, delivery)
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
