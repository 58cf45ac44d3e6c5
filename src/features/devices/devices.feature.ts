/** Known devices. They have completed a login, so a lock caused by unknown devices does not apply to them. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'

export const devices = defineFeature({
  name: 'devices',
  needs: { auth },
  migrations: join(import.meta.dirname, 'migrations'),
  expiringTables: [
    { table: 'devices', key: 'id' },
    { table: 'lock_notices', key: 'user_id' },
  ],
  create: async (infrastructure, needs) =>
    (await import('./devices.create.ts')).createDevicesService(infrastructure, needs),
})
