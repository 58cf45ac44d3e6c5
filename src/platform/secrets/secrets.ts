/** The secrets that the service is configured with, and what is derived from them. */
import { dirname, join } from 'node:path'
import type { Random } from '../../core/random.ts'
import type { Log } from '../log/logger.ts'
import { createEncryption, type Encryption } from './encryption.ts'
import { findOrCreateSecret } from './secret-file.ts'

export interface Secrets {
  /** What tokens are signed with, where no private key is. */
  readonly signing: string | undefined
  /** The secrets of before: what they signed or encrypted is still read. */
  readonly previous: readonly string[]
  /** What keys for other purposes are derived from. */
  readonly current: string
  readonly encryption: Encryption
}

export interface SecretsOptions {
  signing: string | undefined
  previous: readonly string[]
  /** Encrypts in place of the signing secret. */
  appKey: string | undefined
  /** Where a secret is made and kept that was not configured; undefined where it has to be. */
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
  return { signing, previous, current, encryption: createEncryption(all, random) }
}

/** In development on SQLite one is made, so that a first start needs nothing. The configuration refuses it elsewhere. */
function findSecret({ databaseFile, isServing, random, log }: SecretsOptions): string | undefined {
  // A command signs nothing: a secret of its own lets everything be made.
  if (!isServing) return random.id()
  if (databaseFile === undefined) return undefined
  const path = join(dirname(databaseFile), 'jwt-secret')
  const { secret, isNew } = findOrCreateSecret(path, random)
  if (isNew) log.info({ path }, 'no JWT_SECRET is set: a random one was made, for development, and is kept there')
  return secret
}
