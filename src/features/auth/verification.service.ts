/** Verifies email addresses with a mailed link, which only the owner of the account can confirm. */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Mail } from '../../platform/mail/mail-queue.ts'
import type { UsersService } from '../users/users.create.ts'
import type { AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { Login } from './login.service.ts'
import type { MailedTokens } from './mailed-tokens.store.ts'
import type { TakeMailTurn } from './mails-per-address.ts'
import { verificationMessage } from './messages.ts'

export interface VerificationDeps {
  db: Database
  accounts: AccountStore
  mailedTokens: MailedTokens
  userChanges: UsersService['changes']
  confirmOwner: Login['confirmOwner']
  audit: Audit
  mail: Mail | undefined
  takeMailTurn: TakeMailTurn
  publicUrl: string | undefined
}

/** Somebody who confirms a link from a mail. */
export interface LinkConfirmation {
  token: string
  /** Undefined if nobody is signed in. */
  principal: Principal | undefined
  /** Required unless the principal is the owner of the account. */
  password: string
  deviceToken: string | undefined
  client: Client
}

export function createVerification(deps: VerificationDeps) {
  const { db, accounts, mailedTokens, userChanges, confirmOwner, audit, mail, takeMailTurn, publicUrl } = deps
  const event = 'email_verified'

  async function send(userId: number): Promise<void> {
    const account = await accounts.findById(userId)
    if (!account || account.disabled_at !== null || account.email_verified_at !== null || !mail) return
    // Invited: accepting the invitation proves the address.
    if (account.password_hash === '') return
    const { token, insert, lifetimeSeconds } = mailedTokens.create({ purpose: 'verification', userId })
    const message = verificationMessage({ to: account.email, token, publicUrl })
    const prepared = mail.prepare({ kind: 'verification', userId, message, lifetimeSeconds })
    const [, made] = await db.write<object>(accounts.stillHasAddress(account), insert, prepared.statement)
    if (!made?.length) return
    if (await takeMailTurn('verification', account.email)) prepared.send()
    else await prepared.withdraw()
  }

  return {
    /** Returns immediately. Mails nothing if the address is verified, or after three mails in an hour. */
    request: (userId: number): void => mail?.afterResponse('verification mail', () => send(userId)),

    /** Does not consume the token. */
    find: (token: string) => mailedTokens.find(token, 'verification'),

    async verify({ token, ...given }: LinkConfirmation): Promise<void> {
      const known = await mailedTokens.find(token, 'verification')
      if (!known) throw authErrors.invalidVerificationToken()
      const { user_id: userId } = known
      const { guards, requireUnchanged } = await confirmOwner({ ...given, userId, event })
      const [passed] = await db.write(
        ...guards,
        mailedTokens.use(known),
        userChanges.setVerified(userId),
        audit.entry({ event, outcome: 'success', userId, actorId: userId, client: given.client }),
      )
      if (passed?.length) return
      await requireUnchanged()
      throw authErrors.invalidVerificationToken()
    },
  }
}

export type Verification = ReturnType<typeof createVerification>
