/** The configuration keys of signing in, and checks across them. */
import { type CheckContext, type CoreConfig, minSecretBytes } from '../../config/config.ts'
import { key, optional, type ValuesOf } from '../../config/key.ts'
import { bool, choice, integer, rateLimit, secondsUpTo, text } from '../../config/readers.ts'
import { readPrivateKeys } from './private-key-file.ts'

const year = 31_536_000

export const authKeys = {
  jwt: {
    privateKeyFile: optional('jwt.private_key_file', text, 'JWT_PRIVATE_KEY_FILE'),
    accessTtlSeconds: key('jwt.access_ttl', secondsUpTo(year), 1800, 'JWT_ACCESS_TTL'),
    refreshTtlSeconds: key('jwt.refresh_ttl', secondsUpTo(10 * year), 604_800, 'JWT_REFRESH_TTL'),
    algorithm: key(
      'jwt.algorithm',
      choice(['HS256', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA']),
      'HS256',
      'JWT_ALGORITHM',
    ),
    issuer: key('jwt.issuer', text, 'service', 'JWT_ISSUER'),
  },
  auth: {
    lockoutAttempts: key('auth.lockout.attempts', integer({ min: 1, max: 1_000_000 }), 5, 'LOCKOUT_ATTEMPTS'),
    lockoutSeconds: key('auth.lockout.seconds', secondsUpTo(year), 900, 'LOCKOUT_SECONDS'),
    challengeTtlSeconds: key('auth.challenge_ttl', secondsUpTo(86_400), 300, 'CHALLENGE_TTL'),
    verifyEmail: key('auth.verify_email', bool, false, 'VERIFY_EMAIL'),
    issuerName: key('auth.issuer_name', text, 'Latchkey', 'AUTH_ISSUER_NAME'),
    rateLimit: {
      login: key('auth.rate_limit.login', rateLimit, { requests: 100, seconds: 60 }, 'RATE_LIMIT_LOGIN'),
      refresh: key('auth.rate_limit.refresh', rateLimit, { requests: 300, seconds: 60 }, 'RATE_LIMIT_REFRESH'),
      verify: key('auth.rate_limit.verify', rateLimit, { requests: 60, seconds: 60 }, 'RATE_LIMIT_VERIFY'),
      reset: key('auth.rate_limit.reset', rateLimit, { requests: 20, seconds: 60 }, 'RATE_LIMIT_RESET'),
    },
  },
}

export type AuthConfig = CoreConfig & ValuesOf<typeof authKeys>

/** The keys of jwt.private_key_file in PEM. None if a secret signs. */
export function readSigningKeys({ jwt }: AuthConfig): { keys: string[] } | { problem: string } {
  if (isSymmetric(jwt) || jwt.privateKeyFile === undefined) return { keys: [] }
  return readPrivateKeys(jwt.privateKeyFile, jwt.algorithm)
}

export function checkAuthConfig(config: AuthConfig, { forService, subjectOf }: CheckContext): string[] {
  const { jwt, auth, mail, database, isDevelopment, environment } = config
  const problems: string[] = []
  const keys = readSigningKeys(config)
  if ('problem' in keys) problems.push(`${subjectOf(authKeys.jwt.privateKeyFile)}: ${keys.problem}`)
  // With a private key for signing and an app key for encryption, no secret is needed.
  const needsSecret = isSymmetric(jwt) || auth.appKey === undefined
  const isSqlite = database.url.startsWith('file:')
  if (forService && needsSecret && jwt.secret === undefined && (!isDevelopment || !isSqlite)) {
    const reason = isSqlite ? `when NODE_ENV is ${environment}` : 'on PostgreSQL'
    problems.push(
      `JWT_SECRET is required ${reason}: at least ${minSecretBytes} random bytes, such as from "openssl rand -hex 32"`,
    )
  }
  if (!isSymmetric(jwt) && jwt.privateKeyFile === undefined) {
    problems.push(`${subjectOf(authKeys.jwt.algorithm)}: ${jwt.algorithm} needs JWT_PRIVATE_KEY_FILE`)
  }
  if (isSymmetric(jwt) && jwt.privateKeyFile !== undefined) {
    problems.push(
      `${subjectOf(authKeys.jwt.privateKeyFile)}: ${jwt.algorithm} does not sign with a key: set JWT_ALGORITHM to RS256, ES256 or EdDSA`,
    )
  }
  if (auth.verifyEmail && mail.url === undefined) {
    problems.push(`${subjectOf(authKeys.auth.verifyEmail)}: needs mail.url (MAIL_URL), by which the links are sent`)
  }
  return problems
}

function isSymmetric({ algorithm }: Pick<AuthConfig['jwt'], 'algorithm'>): boolean {
  return algorithm.startsWith('HS')
}
