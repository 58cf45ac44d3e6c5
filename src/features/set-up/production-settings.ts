/** Recommended settings for production, and whether they are set. */
import type { CoreConfig } from '../../config/config.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'

export interface ProductionSetting {
  /** The environment variable, with a value if there is only one. */
  name: string
  why: string
  isMet: boolean
}

export function createProductionSettings(
  { environment, server, jwt, mail }: CoreConfig,
  { users, auth }: { users: UsersService; auth: AuthService },
): readonly ProductionSetting[] {
  const isHttps = server.publicUrl?.startsWith('https:') ?? false
  return [
    {
      name: 'NODE_ENV=production',
      why: 'Turns the GraphQL playground off, and requires a JWT_SECRET.',
      isMet: environment === 'production',
    },
    {
      name: 'PUBLIC_URL',
      why: 'The https address of this service, for links in mails. Cookies are then sent over https only.',
      isMet: isHttps,
    },
    {
      name: 'JWT_SECRET',
      why: 'At least 32 random bytes that sign tokens. Without it, a generated secret is stored next to the database.',
      isMet: jwt.secret !== undefined || auth.keys[0].jwk !== undefined,
    },
    {
      name: 'TRUSTED_PROXIES',
      why: 'The address of your https proxy, so that rate limits and the audit trail use the addresses of the clients.',
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
      why: 'Unless anybody may create an account.',
      isMet: !users.isRegistrationOpen,
    },
    {
      name: 'Backups',
      why: 'Copy the database regularly, and try to restore it. docs/operations.md has the commands.',
      // Backups are made outside of the service.
      isMet: false,
    },
  ]
}
