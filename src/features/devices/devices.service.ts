/** Identifies devices by opaque tokens. A token is bound to one account and stored only as a hash. */
import { hashToken } from '../../core/hash-token.ts'
import type { Random } from '../../core/random.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { DeviceStore } from './devices.store.ts'

export interface DevicesDeps {
  store: DeviceStore
  random: Random
}

interface LoginOrigin {
  userId: number
  /** The device that the presented token belongs to. */
  known: { id: string; token: string } | undefined
  client: Client
}

/** Never a user's id; those start at 1. */
const nobody = 0

export function createDevices({ store, random }: DevicesDeps) {
  return {
    /** Always runs the same query: timing reveals neither registered emails nor valid tokens. */
    find: (token: string | undefined, userId: number | undefined): Promise<string | undefined> =>
      store.find(hashToken(token ?? ''), userId ?? nobody),

    /** The batch must lock the user's row first, so that parallel logins see each other's devices. */
    remember({ userId, known, client }: LoginOrigin) {
      const { id, token } = known ?? { id: random.id(), token: random.bytes(32).toString('base64url') }
      const statements = [
        store.keep({ id, userId, tokenHash: hashToken(token), client }),
        store.forgetLeastRecent(userId, id),
      ]
      return { id, token, statements }
    },

    forgetAll: (userId: number, exceptToken?: string): Statement[] => [
      store.forgetAll(userId, exceptToken === undefined ? '' : hashToken(exceptToken)),
    ],

    forgetOfSession: (session: { family: string; endedBy: string; userId: number }): Statement[] => [
      store.forgetOfSession(session),
    ],
  }
}
