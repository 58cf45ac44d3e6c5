/** Checks TOTP and recovery codes, and returns the statements that consume them. */
import { hash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { SingleUseIds } from '../../platform/database/single-use-ids.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { findStep, hashRecoveryCode } from './codes.ts'
import type { TwoFactorStore } from './two-factor.store.ts'

export interface CodeCheckDeps {
  clock: Clock
  store: TwoFactorStore
  singleUseIds: SingleUseIds
  encryption: Encryption
  log: Log
}

interface Step {
  /** Its single-use id. */
  name: string
  use: Statement
}

/** Longer than the three steps in which a code is valid. */
const keepStepSeconds = 300

export function createCodeCheck({ clock, store, singleUseIds, encryption, log }: CodeCheckDeps) {
  /** Returns the statements that consume the code; undefined if it is wrong. */
  async function findUse(userId: number, given: string): Promise<Statement[] | undefined> {
    const row = await store.find(userId)
    if (!row?.enabled) return undefined
    const use = await findCodeUse(userId, row.secret, given)
    if (use) return use
    const codeHash = hashRecoveryCode(withoutSpaces(given))
    return (await store.hasRecoveryCode(userId, codeHash)) ? [store.useRecoveryCode(userId, codeHash)] : undefined
  }

  async function findCodeUse(userId: number, ciphertext: string, code: string): Promise<Statement[] | undefined> {
    const opened = open(ciphertext)
    const step = opened && findCodeStep(userId, opened.text, code)
    if (!opened || !step || (await singleUseIds.isUsed(step.name))) return undefined
    const secret = opened.isOutdated ? encryption.encrypt(opened.text) : ciphertext
    return [step.use, store.reEncrypt(userId, ciphertext, secret)]
  }

  /** The time step of a valid code. Its id includes the secret, because another secret has its own steps. */
  function findCodeStep(userId: number, secret: string, code: string): Step | undefined {
    const step = findStep(secret, withoutSpaces(code), clock.now())
    if (step === undefined) return undefined
    const name = `code ${userId} ${hash('sha256', secret, 'hex').slice(0, 16)} ${step}`
    return { name, use: singleUseIds.use(name, clock.nowSeconds() + keepStepSeconds) }
  }

  /** If the key is lost, TOTP codes no longer work, but recovery codes do. */
  function open(ciphertext: string): { text: string; isOutdated: boolean } | undefined {
    try {
      return encryption.decrypt(ciphertext)
    } catch (error) {
      log.error({ err: error }, 'a two-factor secret cannot be decrypted; was APP_KEY or JWT_SECRET changed?')
      return undefined
    }
  }

  return { findUse, findCodeStep, open }
}

export type CodeCheck = ReturnType<typeof createCodeCheck>

function withoutSpaces(code: string): string {
  return code.replace(/\s/g, '')
}
