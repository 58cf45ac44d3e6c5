/** API keys: programs act as a user, with the permissions that both the key and the user have. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { admin } from '../admin/admin.feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { users } from '../users/users.feature.ts'
import { apiKeyConfig } from './api-keys.config.ts'

export const apiKeys = defineFeature({
  name: 'api-keys',
  needs: { users, auth, admin },
  migrations: join(import.meta.dirname, 'migrations'),
  expiringTables: [{ table: 'api_keys', key: 'id' }],
  auditEvents: {
    api_key_created: 'API key made',
    api_key_ended: 'API key ended',
  },

  config: apiKeyConfig,

  create: async (infrastructure, needs) =>
    (await import('./api-keys.create.ts')).createApiKeysService(infrastructure, needs),

  routes: (service) => async (app) => (await import('./api-keys.routes.ts')).addApiKeyRoutes(app, service),
  pages: async (service) => (await import('./pages/keys.pages.ts')).createKeyPages(service),
})
