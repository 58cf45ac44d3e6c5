import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { BackupService } from '../backup/backup.create.ts'
import type { ProductsService } from '../products/products.create.ts'
import type { UsersService } from '../users/users.create.ts'
import { userRegistered } from '../users/users.feature.ts'
import { findProductionSettings, type ProductionConfig } from './production-settings.ts'
import { createSetUp } from './set-up.service.ts'
import { createSetUpStore } from './set-up.store.ts'

export interface SetUpNeeds {
  users: UsersService
  auth: AuthService
  products?: ProductsService
  backup?: BackupService
}

export type SetUpService = ReturnType<typeof createSetUpService>

const sampleCount = 36

export function createSetUpService(infrastructure: Infrastructure, { users, auth, products, backup }: SetUpNeeds) {
  const { config, clock, random, db, log, audit, events, createLimiter } = infrastructure
  const { administrators, changes } = users
  const store = createSetUpStore({ db, clock, random, audit, administrators, insertUser: changes.insert })
  const onRegistered = (user: { id: number; email: string }) => events.emit(userRegistered, user)
  return {
    ...createSetUp({ store, clock, random, log, audit, users, auth, onRegistered }),
    findWelcome: store.findWelcome,
    /** Undefined without products. */
    addSamples: products && ((by: number) => store.addSamples(products.createSamples(sampleCount, by))),
    async findProductionSettings() {
      const isBackedUp = await backup?.isHealthy()
      // The configuration has the keys of all features; the type has only those of this one.
      const settings = findProductionSettings(config as ProductionConfig)
      return settings.map((setting) => (setting.id === 'backups' ? { ...setting, isMet: isBackedUp } : setting))
    },
    /** Tokens cannot be guessed; this limits the load of trying. */
    visits: createLimiter('set-up', { requests: 60, seconds: 60 }),
    signInBrowser: auth.signInBrowser,
    findPasswordProblems: users.findPasswordProblems,
    publicUrl: config.server.publicUrl,
  }
}
