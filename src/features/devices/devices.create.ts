import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { AuthService } from '../auth/auth.create.ts'
import { createDevices } from './devices.service.ts'
import { createDeviceStore } from './devices.store.ts'
import { createLockNotices } from './lock-notices.service.ts'
import { createLockNoticeStore } from './lock-notices.store.ts'

export type DevicesService = ReturnType<typeof createDevicesService>

export function createDevicesService(infrastructure: Infrastructure, { auth }: { auth: AuthService }) {
  const { config, clock, random, db, mail } = infrastructure
  const devices = createDevices({ store: createDeviceStore({ db, clock }), random })
  const notices = createLockNotices({
    db,
    store: createLockNoticeStore({ clock }),
    clock,
    accounts: auth.accounts,
    mail,
    publicUrl: config.server.publicUrl,
  })
  auth.devices.provide({ ...devices, onAccountLocked: notices.send })
  auth.credentials.provide({ name: 'devices', removeAll: (userId) => devices.forgetAll(userId) })
  return devices
}
