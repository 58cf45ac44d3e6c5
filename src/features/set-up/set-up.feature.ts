/** The first run: the link that creates the first administrator, its pages, and the command `setup`. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { backup } from '../backup/backup.feature.ts'
import { products } from '../products/products.feature.ts'
import { users } from '../users/users.feature.ts'
import { setUpCommands } from './commands/set-up-commands.ts'

export const setUp = defineFeature({
  name: 'set-up',
  needs: { users, auth },
  uses: { products, backup },
  migrations: join(import.meta.dirname, 'migrations'),
  expiringTables: [{ table: 'setup_tokens', key: 'token_hash' }],
  auditEvents: { set_up: 'First administrator made' },

  create: async (infrastructure, needs) =>
    (await import('./set-up.create.ts')).createSetUpService(infrastructure, needs),
  onListening: (service, address) => service.announce(address),

  pages: (service) => ({
    notices: {
      'set-up': 'The administrator is made: sign in to go on.',
      'samples-added': 'The sample products have been added.',
    },
    routes: (kit) => async (app) =>
      (await import('./pages/set-up.routes.ts')).addSetUpPages(app, { ...kit, ...service }),
  }),
  commands: setUpCommands,
})
