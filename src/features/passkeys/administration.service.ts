/** Other users' passkeys, for administrators. */
import type { Database } from '../../platform/database/database.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { AdminService } from '../admin/admin.create.ts'
import type { ListedPasskey, PasskeyStore } from './passkeys.store.ts'

export interface AdministrationDeps {
  db: Database
  store: PasskeyStore
  admin: AdminService['admin']
}

type Actor = Parameters<AdminService['admin']['endSessions']>[0]

interface Removal {
  actor: Actor
  /** Undefined if it cannot be an id. */
  userId: number | undefined
  id: string
}

const event = 'passkey_removed'

export function createAdministration({ db, store, admin }: AdministrationDeps) {
  return {
    async list(userId: number | undefined): Promise<ListedPasskey[]> {
      const user = await admin.find(userId)
      if (!user) throw httpErrors.notFound()
      return store.list(user.id)
    },

    async remove({ actor, userId, id }: Removal): Promise<void> {
      const { user } = await admin.findTarget({ event, actor }, userId)
      const passkey = await store.find(user.id, id)
      if (!passkey) throw httpErrors.notFound()
      const changes = { passkey: { from: id, to: null }, passkey_name: { from: passkey.name, to: null } }
      const [removed] = await db.write<object, object>(
        store.remove(user.id, id),
        admin.acts.done({ event, actor, userId: user.id, changes }),
      )
      if (removed.length === 0) throw httpErrors.notFound()
    },
  }
}
