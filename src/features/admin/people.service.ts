/** Changes, disables and deletes users. */
import { accountErrors } from '../../core/account-errors.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { AuditEvent } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, type Statement } from '../../platform/database/database.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import type { Actor, Admin } from './admin.service.ts'
import type { AdminStore, ListedUser, Stored } from './admin.store.ts'
import { isUnchanged } from './people.store.ts'
import { createEditParts, type UserEdit } from './user-edit.ts'

export interface PeopleDeps {
  db: Database
  store: AdminStore
  acts: Admin['acts']
  users: UsersService
  auth: AuthService
  onAccessChanged: OnAccessChanged
}

const maxAttempts = 5

export function createPeople({ db, store, acts, users, auth, onAccessChanged }: PeopleDeps) {
  const { findTarget, done, refuse } = acts

  const partsOf = createEditParts({ users, auth })

  /** Returns false if the user has changed meanwhile, or no administrator would be left. */
  async function write(statements: Statement[]): Promise<boolean> {
    const results = await db.write(...statements)
    return results.some((rows) => rows.length > 0)
  }

  async function isAsBefore({ user, storedRoles }: Stored): Promise<boolean> {
    const now = await store.find(user.id)
    return now?.storedRoles === storedRoles && now.user.email === user.email && now.user.name === user.name
  }

  async function change(actor: Actor, id: number | undefined, edit: UserEdit): Promise<ListedUser> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const stored = await findTarget(
        { event: eventOf(edit), actor, ...(renamesOnly(edit) && { onSelf: 'allowed' }) },
        id,
      )
      const { user } = stored
      const parts = partsOf(stored, edit)
      if (parts.length === 0) return user
      const entries = parts.map(({ event, changes }) =>
        done({ event, actor, userId: user.id, ...(changes && { changes }) }),
      )
      const disables = parts.some(({ event }) => event === 'user_disabled')
      const statements = [
        // Locked first, as in every batch that may remove an administrator: two who disable each other run in turn.
        ...(disables ? [users.administrators.takeAll] : []),
        isUnchanged(stored),
        ...parts.flatMap((part) => part.statements),
        ...entries,
      ]
      if (await write(statements).catch(asEmailTaken)) {
        await onAccessChanged(user.id)
        return (await store.find(user.id))?.user ?? user
      }
      if (disables && (await isAsBefore(stored)) && (await users.isLastAdministrator(user.id))) {
        throw await refuse({ event: 'user_disabled', actor, userId: user.id }, accountErrors.lastAdministrator())
      }
    }
    throw httpErrors.unavailable()
  }

  function asEmailTaken(error: unknown): never {
    throw error instanceof ConstraintError && error.kind === 'unique' ? accountErrors.emailTaken() : error
  }

  async function remove(actor: Actor, id: number | undefined): Promise<void> {
    const event = 'user_deleted'
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const stored = await findTarget({ event, actor }, id)
      const { user } = stored
      const [takeAdministrators, ...removal] = users.changes.remove(user.id)
      const entry = done({ event, actor, userId: user.id, changes: { email: { from: user.email, to: null } } })
      const statements = [takeAdministrators, isUnchanged(stored), ...removal, entry]
      if (await write(statements).catch(users.changes.asStillReferredTo)) return onAccessChanged(user.id)
      await users.changes.requireUnreferred(user.id)
      if ((await isAsBefore(stored)) && (await users.isLastAdministrator(user.id))) {
        throw await refuse({ event, actor, userId: user.id }, accountErrors.lastAdministrator())
      }
    }
    throw httpErrors.unavailable()
  }

  return {
    change,
    remove,

    /** For the command line. */
    async setPassword(user: ListedUser, password: string, { client }: Actor): Promise<void> {
      const problems = password === '' ? ['Must not be blank'] : users.findPasswordProblems(password)
      if (problems.length > 0) throw validationFailed({ password: problems })
      await auth.passwords.set({ user, password, client })
    },
  }
}

export type People = ReturnType<typeof createPeople>

function renamesOnly({ email, disabled }: UserEdit): boolean {
  return email === undefined && disabled === undefined
}

function eventOf({ name, email, disabled }: UserEdit): AuditEvent {
  if (disabled === undefined || name !== undefined || email !== undefined) return 'user_changed'
  return disabled ? 'user_disabled' : 'user_enabled'
}
