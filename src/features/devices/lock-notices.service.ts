/** Mails the owner when unknown devices lock an account, at most once a day. */
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Mail } from '../../platform/mail/mail-queue.ts'
import type { AuthService } from '../auth/auth.create.ts'
import { lockMessage } from './lock-message.ts'
import type { LockNoticeStore } from './lock-notices.store.ts'

export interface LockNoticesDeps {
  db: Database
  store: LockNoticeStore
  clock: Clock
  accounts: Pick<AuthService['accounts'], 'findById'>
  mail: Mail | undefined
  publicUrl: string | undefined
}

export interface AccountLock {
  userId: number
  /** In Unix seconds. */
  lockedUntil: number
}

const noticeSeconds = 86_400

export function createLockNotices({ store, clock, accounts, db, mail, publicUrl }: LockNoticesDeps) {
  async function tell({ userId, lockedUntil }: AccountLock, lockedAt: number): Promise<void> {
    const account = await accounts.findById(userId)
    // The known devices that the mail mentions do not work for a disabled user.
    if (!mail || !account || account.disabled_at !== null) return
    const message = lockMessage({ to: account.email, lockedAt, lockedUntil, publicUrl })
    const notice = mail.prepare({ kind: 'account_locked', userId, message, lifetimeSeconds: noticeSeconds })
    const [claimed] = await db.write(store.claim(userId), notice.statement)
    if (claimed?.length) notice.send()
  }

  return {
    /** Returns immediately, so that the response reveals neither the duration nor the failure of a mail. */
    send(lock: AccountLock): void {
      if (!mail) return
      const lockedAt = clock.nowSeconds()
      mail.afterResponse('lock notice mail', () => tell(lock, lockedAt))
    },
  }
}
