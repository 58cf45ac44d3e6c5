/**
 * Limits the mails to an address, whichever accounts they are for. Limits per account are not enough: anybody makes as many
 * accounts as they like, and all of them may ask for mail to somebody who has none.
 */
import { AppError } from '../../core/app-error.ts'
import type { CreateLimiter } from '../../platform/limiter/limiter.ts'
import type { MailPurpose } from './mailed-tokens.store.ts'

/** Of each purpose, so that asking for one kind of mail keeps nobody from another. */
const mailsPerHour = { requests: 10, seconds: 3600 }

export function createMailsPerAddress({ createLimiter }: { createLimiter: CreateLimiter }) {
  const limiter = createLimiter('mail', mailsPerHour)
  /** Returns whether one more may be sent, and counts it. */
  return async (purpose: MailPurpose, address: string): Promise<boolean> => {
    try {
      await limiter.take(`${purpose} to ${address}`)
      return true
    } catch (error) {
      if (error instanceof AppError) return false
      throw error
    }
  }
}

export type TakeMailTurn = ReturnType<typeof createMailsPerAddress>
