/** Changes a user's own email. If mail is configured, a link sent to the new address confirms it. */
import { accountErrors } from '../../core/account-errors.ts'
import { AppError } from '../../core/app-error.ts'
import { credentialErrors } from '../../core/credential-errors.ts'
import { normaliseEmail } from '../../core/email.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, type Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import { changedMessage, confirmMessage } from './messages.ts'

export interface EmailChangeDeps {
  db: Database
  audit: Audit
  users: UsersService
  auth: AuthService
  publicUrl: string | undefined
  onAccessChanged: OnAccessChanged
}

type LinkConfirmation = Parameters<AuthService['verification']['verify']>[0]

const event = 'email_change'
const noticeSeconds = 3 * 86_400

export function createEmailChange({ db, audit, users, auth, publicUrl, onAccessChanged }: EmailChangeDeps) {
  const { accounts, mailedTokens, mail, takeMailTurn, login } = auth

  /** Throws 409 if the address is taken. The unique index settles races. */
  async function write(...statements: Statement[]): Promise<boolean> {
    try {
      const [first] = await db.write(...statements)
      return (first?.length ?? 0) > 0
    } catch (error) {
      if (error instanceof ConstraintError && error.kind === 'unique') throw accountErrors.emailTaken()
      throw error
    }
  }

  const entry = (userId: number, client: Client, changes?: { from: string; to: string }) =>
    audit.entry({
      event,
      outcome: 'success',
      userId,
      actorId: userId,
      client,
      ...(changes && { changes: { email: changes } }),
    })

  return {
    /** Returns whether the email was changed. If not, a link is mailed to the new address. */
    async request(given: {
      principal: Principal
      email: string
      password: string
      client: Client
    }): Promise<{ isChanged: boolean }> {
      const { principal, password, client } = given
      const to = normaliseEmail(given.email)
      const { account, attempt, guards } = await login.confirmPassword({ principal, password, event, client })
      if (await accounts.findByEmail(to)) throw accountErrors.emailTaken()
      const { id: userId, email: from } = account
      const { token, insert, lifetimeSeconds } = mailedTokens.create({ purpose: event, userId, address: to })
      const statements = mail
        ? [insert]
        : [
            ...users.changes.setEmail(userId, to, false),
            mailedTokens.voidAll(userId),
            entry(userId, client, { from, to }),
          ]
      if (!(await write(...guards, ...statements))) {
        await login.requireOpen(attempt)
        throw mail ? tooManyAttempts(3600) : credentialErrors.invalidCredentials()
      }
      if (mail && !(await takeMailTurn(event, to))) throw tooManyAttempts(3600)
      const message = confirmMessage({ to, token, publicUrl })
      if (mail) await mail.post({ kind: event, userId, message, lifetimeSeconds })
      else await onAccessChanged(userId)
      return { isChanged: mail === undefined }
    },

    /** Does not consume the token. */
    find: (token: string) => mailedTokens.find(token, event),

    async confirm({ token, ...given }: LinkConfirmation): Promise<void> {
      const known = await mailedTokens.find(token, event)
      if (known?.address == null) throw invalidToken()
      const { user_id: userId, email: from, address: to } = known
      const { guards, requireUnchanged } = await login.confirmOwner({ ...given, userId, event })
      // Notifies the old address, in case somebody else made the change.
      const message = changedMessage({ from, to })
      const notice = mail?.prepare({ kind: 'email_changed', userId, message, lifetimeSeconds: noticeSeconds })
      const isUsed = await write(
        ...guards,
        mailedTokens.use(known),
        ...users.changes.setEmail(userId, to, true),
        mailedTokens.voidAll(userId),
        entry(userId, given.client, { from, to }),
        ...(notice ? [notice.statement] : []),
      )
      if (!isUsed) {
        await requireUnchanged()
        throw invalidToken()
      }
      notice?.send()
      await onAccessChanged(userId)
    },
  }
}

export function invalidToken(): AppError {
  return new AppError(401, 'Invalid confirmation token')
}
