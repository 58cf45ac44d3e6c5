/** The user:* commands: their names, options and help. */
import { defineCommand } from '../../../platform/command-line/command.ts'
import type { AdminService } from '../admin.create.ts'

export const userCommands = [
  defineCommand<AdminService, { email: string; name: string; role: string[] }>({
    name: 'user:create',
    describe: (command) =>
      void command
        .description('make a user; the password is prompted for, or read from standard input')
        .requiredOption('--email <email>', 'the email to sign in with')
        .option('--name <name>', 'the name that people see', '')
        .option('--role <role...>', 'a role that the user gets; may be repeated', []),
    async run(context, { options }) {
      const { createUser } = await import('./users.ts')
      await createUser(context, options)
    },
  }),

  defineCommand<AdminService, { set?: string; add?: string; remove?: string }>({
    name: 'user:roles',
    describe: (command) =>
      void command
        .description("show a user's roles, or change them; works from the user's next request on")
        .argument('<email>')
        .option('--set <roles>', 'exactly these, separated by commas; "" for none')
        .option('--add <roles>', 'these too')
        .option('--remove <roles>', 'these no longer'),
    async run(context, { arguments: [email], options }) {
      const { changeRoles } = await import('./users.ts')
      await changeRoles(context, String(email), options)
    },
  }),

  defineCommand<AdminService>({
    name: 'user:unlock',
    describe: (command) =>
      void command.description('end the lock that too many failed attempts have set').argument('<email>'),
    async run(context, { arguments: [email] }) {
      const { unlockUser } = await import('./users.ts')
      await unlockUser(context, String(email))
    },
  }),

  defineCommand<AdminService>({
    name: 'user:list',
    describe: (command) =>
      void command.description('list all users: id, email, name, roles, 2fa, locked, separated by tabs'),
    async run(context) {
      const { listUsers } = await import('./users.ts')
      await listUsers(context)
    },
  }),
]
