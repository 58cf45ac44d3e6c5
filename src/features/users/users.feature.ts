/** Users, their passwords and roles. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { userRegistered } from './user.events.ts'
import { checkUsersConfig, userKeys } from './users.keys.ts'

export { userRegistered }

export const users = defineFeature({
  name: 'users',
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['users'],
  auditEvents: { register: 'Registered', name_change: 'Name changed' },
  config: userKeys,
  checkConfig: checkUsersConfig,
  events: [userRegistered],
  create: async (infrastructure) => (await import('./users.create.ts')).createUsersService(infrastructure),
  start: async (_users, { db, log }) => (await import('./user-keys.ts')).startUserKeys({ db, log }),

  routes: (service) => async (app) => (await import('./users.routes.ts')).addUserRoutes(app, service),
  elements: async () => (await import('./users.graphql.ts')).createUserElements(),
  pages: async () => ({ liveElements: (await import('./users.graphql.ts')).createUserElements() }),
})
