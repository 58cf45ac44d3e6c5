/** Mails the owner when unknown devices lock an account, at most once a day. */
import type { Clock } from '../../core/clock.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Outbox } from '../../platform/mail/outbox.ts'
import type { AuthService } from '../auth/auth.create.ts'
import { lockMessage } from './lock-message.ts'
import type { LockNoticeStore } from './lock-notices.store.ts'

export interface LockNoticesDeps {
  store: LockNoticeStore
  clock: Clock
  accounts: Pick<AuthService['accounts'], 'findById'>
  mail: Mail | undefined
  outbox: Outbox
  publicUrl: string | undefined
}

export interface AccountLock {
  userId: number
  /** In Unix seconds. */
  lockedUntil: number
}

export function createLockNotices({ store, clock, accounts, mail, outbox, publicUrl }: LockNoticesDeps) {
  async function tell({ userId, lockedUntil }: AccountLock, lockedAt: number): Promise<void> {
    const account = await accounts.findById(userId)
    // The known devices that the mail mentions do not work for a disabled user.
    if (!mail || !account || account.disabled_at !== null || !(await store.claim(userId))) return
    await mail.send(lockMessage({ to: account.email, lockedAt, lockedUntil, publicUrl }))
  }

  return {
    /** Returns immediately, so that the response reveals neither the duration nor the failure of a mail. */
    send(lock: AccountLock): void {
      if (!mail) return
      const lockedAt = clock.nowSeconds()
      outbox.post('lock notice mail', () => tell(lock, lockedAt))
    },
  }
}
