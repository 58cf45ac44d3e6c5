/** What a service in production wants, and whether the running configuration has it. */
import type { CoreConfig } from '../../config/config.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { BackupService } from '../backup/backup.create.ts'
import type { UsersService } from '../users/users.create.ts'

export interface ProductionSetting {
  /** What to set, as in the environment. */
  name: string
  why: string
  isMet: boolean
}

export async function findProductionSettings(
  { environment, server, jwt, mail }: CoreConfig,
  { users, auth, backup }: { users: UsersService; auth: AuthService; backup: BackupService },
): Promise<readonly ProductionSetting[]> {
  const isHttps = server.publicUrl?.startsWith('https:') ?? false
  return [
    {
      name: 'NODE_ENV=production',
      why: 'Closes the GraphQL playground and refuses a start without a secret.',
      isMet: environment === 'production',
    },
    {
      name: 'PUBLIC_URL',
      why: 'The https address that people use. Links in mails are made from it, and cookies are kept to https.',
      isMet: isHttps,
    },
    {
      name: 'JWT_SECRET',
      why: 'At least 32 random bytes that sign tokens. Without it, a secret is kept beside the database.',
      isMet: jwt.secret !== undefined || auth.keys[0].jwk !== undefined,
    },
    {
      name: 'TRUSTED_PROXIES',
      why: 'The address of the proxy that ends https, so that limits and the audit trail see the clients behind it.',
      isMet: server.trustedProxies.length > 0,
    },
    {
      name: 'MAIL_URL',
      why: 'A mail server. Without it, nobody can reset a forgotten password.',
      isMet: mail.url !== undefined,
    },
    {
      name: 'REFUSE_COMMON_PASSWORDS=true',
      why: 'Refuses passwords that attackers try first.',
      isMet: users.refusesCommonPasswords,
    },
    {
      name: 'REGISTRATION=closed',
      why: 'Unless strangers may make accounts of their own.',
      isMet: !users.isRegistrationOpen,
    },
    {
      name: 'BACKUP_FOLDER, BACKUP_EVERY',
      why: 'Backups that are restored and compared as soon as they are made. Met once the first has succeeded.',
      isMet: await backup.isHealthy(),
    },
  ]
}
