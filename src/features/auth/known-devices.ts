/** Devices that completed a login before. The feature that keeps them registers here; without one, none is known. */
import type { Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'

export interface RememberedDevice {
  id: string
  /** What the client presents from now on. */
  token: string
  /** For the batch that makes the session. */
  statements: Statement[]
}

export interface KnownDevices {
  /** Returns the id of the user's device with that token. Takes as long for a wrong token, and for no user. */
  find(token: string | undefined, userId: number | undefined): Promise<string | undefined>
  /** Renews the device that was found by that token, or makes a new one. */
  remember(given: {
    userId: number
    known: { id: string; token: string } | undefined
    client: Client
  }): RememberedDevice | undefined
  /** Forgets the user's devices, all but the one with that token. */
  forgetAll(userId: number, exceptToken?: string): Statement[]
  /** Forgets the device that a session was made from, unless the session that ends it is of the same device. */
  forgetOfSession(session: { family: string; endedBy: string; userId: number }): Statement[]
  /** Is told that strangers have locked the account. */
  onAccountLocked(lock: { userId: number; lockedUntil: number }): void
}

const none: KnownDevices = {
  find: async () => undefined,
  remember: () => undefined,
  forgetAll: () => [],
  forgetOfSession: () => [],
  onAccountLocked: () => {},
}

export function createKnownDevicesSlot() {
  let provided = none
  return {
    provide(devices: KnownDevices): void {
      provided = devices
    },
    find: (token, userId) => provided.find(token, userId),
    remember: (given) => provided.remember(given),
    forgetAll: (userId: number, exceptToken?: string) => provided.forgetAll(userId, exceptToken),
    forgetOfSession: (session) => provided.forgetOfSession(session),
    onAccountLocked: (lock) => provided.onAccountLocked(lock),
  } satisfies KnownDevices & { provide(devices: KnownDevices): void }
}
