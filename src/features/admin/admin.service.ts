/** Changes roles and helps locked-out users. Nobody can grant, or act on, permissions beyond their own. */
import { accountErrors } from '../../core/account-errors.ts'
import { AppError } from '../../core/app-error.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Holder } from '../../platform/access/authorize.ts'
import type { Audit, AuditChanges, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Param, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import type { AdminStore, ListedUser, Stored } from './admin.store.ts'

export interface Actor {
  /** Null for the command line, which has no user. */
  id: number | null
  /** What the actor may do; the roles alone would be wrong for an API key. Undefined if everything is allowed. */
  holder: Holder | undefined
  client: Client
}

/** An action, performed or refused. */
export interface Act {
  event: AuditEvent
  actor: Actor
  userId: number | null
  changes?: AuditChanges
}

/** An action on a user, before that user is known. */
export interface Attempt extends Pick<Act, 'event' | 'actor'> {
  /**
   * Nobody administers themselves unless the action allows it: whoever has a stolen session or a key would need no
   * password for what the account page asks one for, and could unlock the account after each guess.
   */
  onSelf?: 'allowed'
}

/** What helps a user, for a batch. */
interface Help {
  statements: Statement[]
  audited?: { changes?: AuditChanges }
}

export interface AdminDeps {
  db: Database
  store: AdminStore
  roles: {
    has(name: string): boolean
    names(): string[]
    areCoveredBy(holder: Holder, roles: readonly string[]): boolean
    administrators(): string[]
  }
  /** Statements of other features for the same batch. */
  unlock(user: { email: string; id: number }): Statement
  removeSecondFactors(userId: number): Promise<Help>
  /** Forgets the known devices too, because others may have them. */
  endSessions(userId: number): Statement[]
  audit: Audit
  /** Limits the recorded refusals per actor. */
  refusals: Limiter
  onAccessChanged: OnAccessChanged
}

const maxAttempts = 5
const { forbidden } = httpErrors

export function createAdmin(deps: AdminDeps) {
  const { db, store, roles, unlock, removeSecondFactors, endSessions, audit, refusals, onAccessChanged } = deps

  const covers = (actor: Pick<Actor, 'holder'>, others: readonly string[]) =>
    actor.holder === undefined || roles.areCoveredBy(actor.holder, others)

  const findStored = async (id: number | undefined) => (id === undefined ? undefined : store.find(id))

  async function findTarget({ event, actor, onSelf }: Attempt, id: number | undefined): Promise<Stored> {
    const stored = await findStored(id)
    if (!stored) throw httpErrors.notFound()
    const { user } = stored
    const isRefused = (user.id === actor.id && onSelf !== 'allowed') || !covers(actor, user.roles)
    if (isRefused) throw await refuse({ event, actor, userId: user.id }, forbidden())
    return stored
  }

  function done({ actor, ...act }: Omit<Act, 'userId'> & { userId: Param }): Statement {
    return audit.entry({ ...act, outcome: 'success', actorId: actor.id, client: actor.client })
  }

  async function recordRefusal({ actor, ...act }: Act): Promise<void> {
    const isTooMany = actor.id !== null && (await isRefused(refusals.take(`user ${actor.id}`)))
    if (isTooMany) return
    await db.write(audit.entry({ ...act, outcome: 'refused', actorId: actor.id, client: actor.client }))
  }

  async function refuse(act: Act, refusal: AppError): Promise<AppError> {
    await recordRefusal(act)
    return refusal
  }

  async function setRoles(actor: Actor, id: number | undefined, given: readonly string[]): Promise<ListedUser> {
    const event: AuditEvent = 'roles_changed'
    const wanted = [...new Set(given)]
    const keepsAdministrator = wanted.some((role) => roles.administrators().includes(role))

    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const stored = await findTarget({ event, actor, onSelf: 'allowed' }, id)
      const { user } = stored
      const changes = { roles: { from: user.roles, to: wanted } }
      const act = { event, actor, userId: user.id, changes }
      const added = wanted.filter((role) => !user.roles.includes(role))
      // A user may keep a role that is no longer configured; it grants nothing.
      const unknown = added.filter((role) => !roles.has(role))
      if (unknown.length > 0) throw unknownRoles(unknown)
      const removed = user.roles.filter((role) => !wanted.includes(role))
      if (!covers(actor, [...added, ...removed])) throw await refuse(act, forbidden())
      const [, changed] = await db.write(...store.setRoles(stored, wanted, keepsAdministrator), done(act))
      if (changed && changed.length > 0) {
        await onAccessChanged(user.id)
        return { ...user, roles: wanted }
      }
      const now = await store.find(user.id)
      // If the roles are unchanged, the batch was refused because this is the last administrator.
      if (now?.storedRoles === stored.storedRoles) throw await refuse(act, accountErrors.lastAdministrator())
    }
    throw httpErrors.unavailable()
  }

  const help = (event: AuditEvent, prepare: (user: ListedUser) => Help | Promise<Help>) =>
    async function helpUser(actor: Actor, id: number | undefined): Promise<void> {
      const { user } = await findTarget({ event, actor }, id)
      const { statements, audited } = await prepare(user)
      await db.write(...statements, done({ event, actor, userId: user.id, ...audited }))
      await onAccessChanged(user.id)
    }

  return {
    recordRefusal,
    /** Returns the user to act on. Throws 403, and records it, for oneself and for users with permissions that the actor lacks. */
    findTarget,
    /** For other services of administrators. */
    acts: { covers, findTarget, done, refuse },
    list: store.list,
    sorted: { page: store.page, batches: store.batches, batchesOf: store.batchesOf },
    findByEmail: store.findByEmail,

    findStored,
    find: async (id: number | undefined) => (await findStored(id))?.user,

    /** Whether the actor may change that user. */
    reachOf(actor: Pick<Actor, 'id' | 'holder'>, user: Pick<ListedUser, 'id' | 'roles'>): 'self' | 'change' | 'beyond' {
      if (user.id === actor.id) return 'self'
      return covers(actor, user.roles) ? 'change' : 'beyond'
    },

    /** All roles, with whether the actor may grant them. */
    listRoles: (actor: Pick<Actor, 'holder'>): { name: string; canGive: boolean }[] =>
      roles.names().map((name) => ({ name, canGive: covers(actor, [name]) })),

    setRoles,

    unlock: help('unlock', (user) => ({ statements: [unlock(user)] })),
    resetTwoFactor: help('2fa_reset', ({ id }) => removeSecondFactors(id)),
    endSessions: help('sessions_ended', ({ id }) => ({ statements: endSessions(id) })),
  }
}

export type Admin = ReturnType<typeof createAdmin>

export function unknownRoles(names: readonly string[]): AppError {
  return validationFailed({ roles: names.map((name) => `Unknown role: ${name}`) })
}

async function isRefused(turn: Promise<void>): Promise<boolean> {
  try {
    await turn
    return false
  } catch (error) {
    if (error instanceof AppError) return true
    throw error
  }
}
