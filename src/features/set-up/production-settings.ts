/** Recommended settings for production, and whether they are set. Shown on the welcome page and by `latchkey doctor`. */
import type { CoreConfig } from '../../config/config.ts'
import { isPlaygroundOpen } from '../../config/config.ts'
import type { ValuesOf } from '../../config/key.ts'
import type { Feature } from '../../platform/feature.ts'
import type { auth } from '../auth/auth.feature.ts'
import type { backup } from '../backup/backup.feature.ts'
import type { products } from '../products/products.feature.ts'
import type { users } from '../users/users.feature.ts'

type ConfigOf<One> = One extends Feature<unknown, infer Keys> ? ValuesOf<Keys> : never

export type ProductionConfig = CoreConfig &
  ConfigOf<typeof products> &
  ConfigOf<typeof users> &
  ConfigOf<typeof auth> &
  ConfigOf<typeof backup>

export interface ProductionSetting {
  id: string
  /** The environment variable, with a value if there is only one. */
  name: string
  why: string
  /** Undefined if the service cannot know. */
  isMet: boolean | undefined
  /** Whether a service should not go live without it. */
  isEssential: boolean
}

const goodCost = 12
const minTokenLength = 16

export function findProductionSettings(config: ProductionConfig): readonly ProductionSetting[] {
  return [...identity(config), ...access(config), ...network(config), ...operation(config)]
}

function identity({ environment, server, jwt }: ProductionConfig): ProductionSetting[] {
  return [
    {
      id: 'node_env',
      name: 'NODE_ENV=production',
      why: 'Turns the GraphQL playground off, and requires a JWT_SECRET.',
      isMet: environment === 'production',
      isEssential: true,
    },
    {
      id: 'public_url',
      name: 'PUBLIC_URL',
      why: 'The https address of this service, for links in mails. Cookies are then sent over https only.',
      isMet: server.publicUrl?.startsWith('https:') ?? false,
      isEssential: true,
    },
    {
      id: 'jwt_secret',
      name: 'JWT_SECRET',
      why: 'At least 32 random bytes that sign tokens. Without it, a generated secret is stored next to the database.',
      isMet: jwt.secret !== undefined || !jwt.algorithm.startsWith('HS'),
      isEssential: true,
    },
    {
      id: 'jwt_secret_random',
      name: 'JWT_SECRET, made at random',
      why: 'Words can be guessed, and then anybody can sign tokens. "openssl rand -hex 32" makes a random one.',
      isMet: jwt.secret === undefined || looksRandom(jwt.secret),
      isEssential: true,
    },
  ]
}

function access({ auth, mail, products, features }: ProductionConfig): ProductionSetting[] {
  const isOpen = auth.registration === 'open'
  const settings: ProductionSetting[] = [
    {
      id: 'mail_url',
      name: 'MAIL_URL',
      why: 'A mail server. Without it, nobody can reset a forgotten password.',
      isMet: mail.url !== undefined,
      isEssential: false,
    },
    {
      id: 'refuse_common_passwords',
      name: 'REFUSE_COMMON_PASSWORDS=true',
      why: 'Refuses passwords that attackers try first.',
      isMet: auth.password.refuseCommon,
      isEssential: false,
    },
    {
      id: 'registration',
      name: 'REGISTRATION=closed',
      why: 'Unless anybody may create an account.',
      isMet: !isOpen,
      isEssential: false,
    },
    {
      id: 'verify_email',
      name: 'VERIFY_EMAIL=true',
      why: 'While registration is open, anybody could otherwise register the address of somebody else.',
      isMet: auth.verifyEmail || !isOpen,
      isEssential: false,
    },
    {
      id: 'default_roles',
      name: 'DEFAULT_ROLES',
      why: 'While registration is open, no role that may do everything: strangers would get it.',
      isMet: !isOpen || !auth.defaultRoles.some((role) => canDoEverything(auth.roles, role)),
      isEssential: true,
    },
    {
      id: 'product_write_permission',
      name: 'products.write_permission',
      why: 'By the specification, every signed-in user may change products. This requires a permission for it.',
      isMet: products.writePermission !== undefined || !isOpen,
      isEssential: false,
    },
    {
      id: 'bcrypt_cost',
      name: `BCRYPT_COST=${goodCost}`,
      why: 'Or more. Hashes of a lower cost are quick to guess for whoever gets a copy of the database.',
      isMet: auth.bcryptCost >= goodCost,
      isEssential: auth.bcryptCost < 10,
    },
  ]
  return settings.filter(({ id }) => id !== 'product_write_permission' || !features.disabled.includes('products'))
}

function network(config: ProductionConfig): ProductionSetting[] {
  const { server, cors } = config
  return [
    {
      id: 'trusted_proxies',
      name: 'TRUSTED_PROXIES',
      why: 'The address of your https proxy, so that rate limits and the audit trail use the addresses of the clients.',
      isMet: server.trustedProxies.length > 0,
      isEssential: false,
    },
    {
      id: 'cors_origins',
      name: 'CORS_ORIGINS',
      why: 'The pages that may use the API from a browser, instead of every page.',
      isMet: !cors.origins.includes('*'),
      isEssential: false,
    },
    {
      id: 'playground',
      name: 'GQL_PLAYGROUND=false',
      why: 'The playground and introspection show the whole schema to everybody.',
      isMet: !isPlaygroundOpen(config),
      isEssential: false,
    },
    {
      id: 'metrics_token',
      name: 'METRICS_TOKEN',
      why: `At least ${minTokenLength} characters, for Prometheus. Without it there are no metrics in production.`,
      isMet: (server.metricsToken ?? '').length >= minTokenLength,
      isEssential: false,
    },
  ]
}

function operation({ database, graphql, backup, features }: ProductionConfig): ProductionSetting[] {
  const settings: ProductionSetting[] = [
    {
      id: 'pubsub',
      name: 'GQL_PUBSUB',
      why: 'On PostgreSQL with several nodes, in_memory keeps values from the subscribers of the other nodes.',
      isMet: database.url.startsWith('file:') || graphql.pubsub !== 'in_memory',
      isEssential: false,
    },
    {
      id: 'backups',
      name: 'BACKUP_EVERY and BACKUP_FOLDER',
      why: 'Regular backups, each of which is restored and compared. docs/backup.md describes them.',
      isMet: backup.everySeconds !== undefined && backup.folder !== undefined,
      isEssential: false,
    },
  ]
  return settings.filter(({ id }) => id !== 'backups' || !features.disabled.includes('backup'))
}

/** Finds words and repetitions; it cannot prove that a secret is random. */
function looksRandom(secret: string): boolean {
  const words = /secret|password|change.?me|example|latchkey|development|01234567|12345678|abcdefgh/i
  return new Set(secret).size >= 10 && !words.test(secret) && !/\s/.test(secret)
}

type Roles = ProductionConfig['auth']['roles']

/** The configuration has refused roles that inherit each other in a circle. */
function canDoEverything(roles: Roles, name: string): boolean {
  const role = roles[name]
  if (!role) return false
  return role.permissions.includes('*') || role.inherits.some((parent) => canDoEverything(roles, parent))
}
