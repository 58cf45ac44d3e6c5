/** The configured secrets, and the encryption derived from them. */
import { dirname, join } from 'node:path'
import type { Random } from '../../core/random.ts'
import type { Log } from '../log/logger.ts'
import { createEncryption, deriveKey, type Encryption } from './encryption.ts'
import { findOrCreateSecret, readSecretIfPossible } from './secret-file.ts'

export interface Secrets {
  /** Signs tokens, unless a private key does. */
  readonly signing: string | undefined
  /** Still verify and decrypt. */
  readonly previous: readonly string[]
  /** Keys for other purposes are derived from it. */
  readonly current: string
  readonly encryption: Encryption
  /** A key of 32 bytes for each secret: the current one first, then previous ones. `purpose` separates them from others. */
  deriveKeys(purpose: string): readonly Buffer[]
}

export interface SecretsOptions {
  signing: string | undefined
  previous: readonly string[]
  /** Encrypts instead of the signing secret. */
  appKey: string | undefined
  /** A missing secret is generated beside this file. Undefined if the secret must be configured. */
  databaseFile: string | undefined
  isServing: boolean
  random: Random
  log: Log
}

export function createSecrets(options: SecretsOptions): Secrets {
  const { previous, appKey, random } = options
  const signing = options.signing ?? findSecret(options)
  const all = [appKey, signing, ...previous].filter((each) => each !== undefined)
  const [current = ''] = all
  const deriveKeys = (purpose: string) => all.map((secret) => deriveKey(secret, purpose))
  return { signing, previous, current, encryption: createEncryption(all, random), deriveKeys }
}

/** In development on SQLite one is generated. Elsewhere a missing secret is a configuration error. */
function findSecret({ databaseFile, isServing, random, log }: SecretsOptions): string | undefined {
  const path = databaseFile === undefined ? undefined : join(dirname(databaseFile), 'jwt-secret')
  // Commands sign nothing, but features need some secret. What they encrypt, such as a mail, is for the service.
  if (!isServing) return (path && readSecretIfPossible(path)) ?? random.id()
  if (path === undefined) return undefined
  const { secret, isNew } = findOrCreateSecret(path, random)
  if (isNew) log.info({ path }, 'no JWT_SECRET is set: a random one was generated for development and stored there')
  return secret
}
