/** Devices by their tokens, which are opaque, bound to one account, and kept as hashes alone. */
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
  /** The device that was found by its token. */
  known: { id: string; token: string } | undefined
  client: Client
}

/** No user has it: ids begin with 1. */
const nobody = 0

export function createDevices({ store, random }: DevicesDeps) {
  return {
    /** Always one query of the same kind: its time tells neither a known email from others, nor a right token. */
    find: (token: string | undefined, userId: number | undefined): Promise<string | undefined> =>
      store.find(hashToken(token ?? ''), userId ?? nobody),

    /** The statements belong in a batch that has taken the user's row: parallel logins then count each other. */
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
