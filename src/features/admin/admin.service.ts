/** Giving and taking roles, and helping people who are locked out. Nobody hands out more than they have. */
import { AppError } from '../../core/app-error.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { OnAccessChanged } from '../../platform/http/access-changes.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/errors.ts'
import { validationFailed } from '../../platform/http/validation.ts'
import type { AdminStore, ListedUser, Stored } from './admin.store.ts'

/** Who does it. The command line has no user: whoever can run it can do anything. */
export interface Actor {
  id: number | null
  /** Undefined where nothing is denied. */
  roles: readonly string[] | undefined
  client: Client
}

export interface AdminDeps {
  db: Database
  store: AdminStore
  roles: {
    has(name: string): boolean
    names(): string[]
    cover(roles: readonly string[], others: readonly string[]): boolean
    administrators(): string[]
  }
  /** What other features do to a user, as statements for a batch. */
  unlock(email: string): Statement
  removeTwoFactor(userId: number): Statement[]
  endSessions(userId: number): Statement
  audit: Audit
  onAccessChanged: OnAccessChanged
}

const maxAttempts = 5

export function createAdmin(deps: AdminDeps) {
  const { db, store, roles, unlock, removeTwoFactor, endSessions, audit, onAccessChanged } = deps

  function requireCover(actor: Actor, others: readonly string[]): void {
    if (actor.roles !== undefined && !roles.cover(actor.roles, others)) throw httpErrors.forbidden()
  }

  async function findTarget(actor: Actor, id: number | undefined): Promise<Stored> {
    const stored = id === undefined ? undefined : await store.find(id)
    if (!stored) throw httpErrors.notFound()
    requireCover(actor, stored.user.roles)
    return stored
  }

  function entry(event: AuditEvent, actor: Actor, userId: number): Statement {
    const by = actor.id === null ? 'by the command line' : `by user ${actor.id}`
    return audit.entry({ event, outcome: `success, ${by}`, userId, client: actor.client })
  }

  async function setRoles(actor: Actor, id: number | undefined, given: readonly string[]): Promise<ListedUser> {
    const wanted = [...new Set(given)]
    const keepsAdministrator = wanted.some((role) => roles.administrators().includes(role))

    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const stored = await findTarget(actor, id)
      const { user } = stored
      const added = wanted.filter((role) => !user.roles.includes(role))
      // A role that is no longer configured may stay where it is; it holds nothing.
      const unknown = added.filter((role) => !roles.has(role))
      if (unknown.length > 0) throw validationFailed({ roles: unknown.map((role) => `Unknown role: ${role}`) })
      requireCover(actor, [...added, ...user.roles.filter((role) => !wanted.includes(role))])
      const [, done] = await db.write(
        ...store.setRoles(stored, wanted, keepsAdministrator),
        entry('roles_changed', actor, user.id),
      )
      if (done && done.length > 0) {
        await onAccessChanged(user.id)
        return { ...user, roles: wanted }
      }
      const now = await store.find(user.id)
      // Where the roles are still what they were, nothing but the last administrator's stood in the way.
      if (now?.storedRoles === stored.storedRoles) throw lastAdministrator()
    }
    throw httpErrors.unavailable()
  }

  return {
    list: store.list,
    listAudit: store.listAudit,
    findByEmail: store.findByEmail,

    async find(id: number | undefined): Promise<ListedUser | undefined> {
      return id === undefined ? undefined : (await store.find(id))?.user
    },

    /** Whether the actor may change that user at all. */
    canChange: ({ roles: own }: Pick<Actor, 'roles'>, user: Pick<ListedUser, 'roles'>): boolean =>
      own === undefined || roles.cover(own, user.roles),

    /** Every role there is, and whether the actor may give it. */
    listRoles: ({ roles: own }: Pick<Actor, 'roles'>): { name: string; canGive: boolean }[] =>
      roles.names().map((name) => ({ name, canGive: own === undefined || roles.cover(own, [name]) })),

    setRoles,

    async unlock(actor: Actor, id: number | undefined): Promise<void> {
      const { user } = await findTarget(actor, id)
      await db.write(unlock(user.email), entry('unlock', actor, user.id))
    },

    async resetTwoFactor(actor: Actor, id: number | undefined): Promise<void> {
      const { user } = await findTarget(actor, id)
      await db.write(...removeTwoFactor(user.id), entry('2fa_reset', actor, user.id))
    },

    async endSessions(actor: Actor, id: number | undefined): Promise<void> {
      const { user } = await findTarget(actor, id)
      await db.write(endSessions(user.id), entry('sessions_ended', actor, user.id))
      await onAccessChanged(user.id)
    },
  }
}

export type Admin = ReturnType<typeof createAdmin>

export function lastAdministrator(): AppError {
  return new AppError(409, 'Last administrator')
}
