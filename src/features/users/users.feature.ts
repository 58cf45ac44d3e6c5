/** People: who they are, their passwords, and the roles they hold. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { startUserKeys } from './user-keys.ts'
import { createUsersService } from './users.create.ts'
import { createUserElements } from './users.graphql.ts'
import { checkUsersConfig, userKeys } from './users.keys.ts'
import { addUserRoutes } from './users.routes.ts'

export const users = defineFeature({
  name: 'users',
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['users'],
  auditEvents: { register: 'Registered', name_change: 'Name changed' },
  config: userKeys,
  checkConfig: checkUsersConfig,
  create: createUsersService,
  start: (_users, { db, log }) => startUserKeys({ db, log }),
  routes: (service) => (app) => addUserRoutes(app, service),
  elements: () => createUserElements(),
  pages: () => ({ liveElements: createUserElements() }),
})
