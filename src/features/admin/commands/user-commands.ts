/** The user:* commands: their names, options and help. */
import { defineCommand } from '../../../platform/command-line/command.ts'
import type { AdminService } from '../admin.create.ts'

export const userCommands = [
  defineCommand<AdminService, { email: string; name: string; role: string[]; invite?: boolean }>({
    name: 'user:create',
    describe: (command) =>
      void command
        .description('make a user; the password is prompted for, or read from standard input')
        .requiredOption('--email <email>', 'the email to sign in with')
        .option('--name <name>', 'the name that people see', '')
        .option('--role <role...>', 'a role that the user gets; may be repeated', [])
        .option('--invite', 'ask for no password: mail the user a link to set one, or print it if there is no mail'),
    async run(context, { options }) {
      if (options.invite) await (await import('./people.ts')).inviteUser(context, options)
      else await (await import('./users.ts')).createUser(context, options)
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
    name: 'user:password',
    describe: (command) =>
      void command
        .description('set a new password, prompted for or read from standard input; ends every session')
        .argument('<email>'),
    async run(context, { arguments: [email] }) {
      const { setPassword } = await import('./people.ts')
      await setPassword(context, String(email))
    },
  }),

  defineCommand<AdminService>({
    name: 'user:disable',
    describe: (command) =>
      void command
        .description('keep a user from signing in, and end every session; nothing is lost')
        .argument('<email>'),
    async run(context, { arguments: [email] }) {
      const { disableUser } = await import('./people.ts')
      await disableUser(context, String(email))
    },
  }),

  defineCommand<AdminService>({
    name: 'user:enable',
    describe: (command) => void command.description('let a disabled user sign in again').argument('<email>'),
    async run(context, { arguments: [email] }) {
      const { enableUser } = await import('./people.ts')
      await enableUser(context, String(email))
    },
  }),

  defineCommand<AdminService, { yes?: boolean }>({
    name: 'user:delete',
    describe: (command) =>
      void command
        .description('delete a user for good; asks before it does')
        .argument('<email>')
        .option('--yes', 'do not ask; needed where there is no terminal'),
    async run(context, { arguments: [email], options }) {
      const { deleteUser } = await import('./people.ts')
      await deleteUser(context, String(email), options)
    },
  }),

  defineCommand<AdminService>({
    name: 'user:list',
    describe: (command) =>
      void command.description('list all users: id, email, name, roles, 2fa, locked or disabled, separated by tabs'),
    async run(context) {
      const { listUsers } = await import('./users.ts')
      await listUsers(context)
    },
  }),
]
