import { defineCommand } from '../../../platform/command-line/command.ts'
import type { SetUpService } from '../set-up.create.ts'

export const setUpCommands = [
  defineCommand<SetUpService>({
    name: 'setup',
    describe: (command) =>
      void command.description('print a new link that makes the first administrator; earlier links stop working'),
    async run(context) {
      const { printSetUpLink } = await import('./set-up-link.ts')
      await printSetUpLink(context)
    },
  }),
]
