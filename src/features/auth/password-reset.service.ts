/** Sets a password with a mailed token: after it was forgotten, or for the first time after an invitation. */
import { normaliseEmail } from '../../core/email.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Mail } from '../../platform/mail/mail-queue.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { UsersService } from '../users/users.create.ts'
import type { AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import { type CredentialRemoval, type Credentials, noRemoval } from './credentials.ts'
import type { KnownDevices } from './known-devices.ts'
import type { Lockout } from './lockout.ts'
import type { MailedToken, MailedTokens } from './mailed-tokens.store.ts'
import type { TakeMailTurn } from './mails-per-address.ts'
import { resetMessage } from './messages.ts'
import type { SessionStore } from './sessions.store.ts'

export interface PasswordResetDeps {
  db: Database
  accounts: AccountStore
  sessions: SessionStore
  mailedTokens: MailedTokens
  lockout: Lockout
  devices: Pick<KnownDevices, 'forgetAll'>
  credentials: Credentials
  passwords: Passwords
  userChanges: UsersService['changes']
  requireImpersonal: UsersService['requireImpersonal']
  audit: Audit
  mail: Mail | undefined
  takeMailTurn: TakeMailTurn
  publicUrl: string | undefined
  onAccessChanged: OnAccessChanged
}

export interface PasswordReset {
  token: string
  password: string
  /** Removes the user's passkeys too. They are always removed before the address is verified. */
  removePasskeys?: boolean
  client: Client
}

export interface ResetDescription {
  email: string
  /** The address was never verified, so everything but the authenticator app will be removed. */
  isFirstProof: boolean
  hasTwoFactor: boolean
  passkeys: number
}

export function createPasswordReset(deps: PasswordResetDeps) {
  const { db, accounts, sessions, mailedTokens, lockout, devices, credentials, passwords, userChanges, audit } = deps
  const { mail, takeMailTurn, publicUrl } = deps

  /** Returns immediately, so that timing does not reveal whether the email is registered. */
  function forgot(given: { email: string; client: Client }): void {
    mail?.afterResponse('password reset mail', () => sendReset(normaliseEmail(given.email), given.client))
  }

  async function sendReset(email: string, client: Client): Promise<void> {
    const account = await accounts.findByEmail(email)
    if (!account || account.disabled_at !== null || !mail) return
    const { id: userId, email: to } = account
    const { token, insert, lifetimeSeconds } = mailedTokens.create({ purpose: 'reset', userId })
    const message = resetMessage({ to, token, publicUrl })
    const prepared = mail.prepare({ kind: 'password_reset', userId, message, lifetimeSeconds })
    const [, made] = await db.write<object>(
      // Locks the user's row, so that parallel requests cannot exceed the limit of mails.
      accounts.stillHasAddress(account),
      insert,
      // Anybody may ask for it.
      audit.entry({ event: 'password_forgot', outcome: 'success', userId, actorId: null, client }),
      prepared.statement,
    )
    if (!made?.length) return
    if (await takeMailTurn('reset', to)) prepared.send()
    else await prepared.withdraw()
  }

  /** Does not consume the token. */
  const findReset = (token: string) => mailedTokens.find(token, 'reset', 'invitation')

  /** What the page of a reset shows. Undefined if the token does not work. */
  async function describeReset(token: string): Promise<ResetDescription | undefined> {
    const known = await findReset(token)
    const account = known && (await accounts.findById(known.user_id))
    if (!account) return undefined
    return {
      email: account.email,
      isFirstProof: account.email_verified_at === null,
      hasTwoFactor: account.two_factor === true,
      passkeys: await credentials.countPasskeys(account.id),
    }
  }

  async function reset(given: PasswordReset): Promise<void> {
    const { client } = given
    const known = await findReset(given.token)
    // Checked before hashing, so that guesses do not keep the threads busy.
    if (!known) throw authErrors.invalidResetToken()
    const { user_id: userId, email, name } = known
    const user = { email, id: userId }
    deps.requireImpersonal({ field: 'password', password: given.password, email, name })
    const passwordHash = await passwords.hash(given.password, client)
    const { statements, audited } = await prepareRemoval(known, given)
    // In the order in which a login takes its rows, so that the two never wait for each other.
    const [, used] = await db.write(
      lockout.unlockWithoutSecondFactor(user),
      accounts.setPassword(userId, passwordHash),
      mailedTokens.use(known),
      sessions.revokeAll(userId, 'password_change'),
      ...devices.forgetAll(userId),
      ...statements,
      userChanges.setVerified(userId),
      mailedTokens.voidAll(userId),
      audit.entry({ event: 'password_reset', outcome: 'success', userId, actorId: userId, client, ...audited }),
    )
    if (!used || used.length === 0) throw authErrors.invalidResetToken()
    audit.count('password_reset', 'success')
    await deps.onAccessChanged(userId)
  }

  /** Until an address is verified, everything may have been added by somebody who registered it for another person. */
  async function prepareRemoval(known: MailedToken, { removePasskeys }: PasswordReset): Promise<CredentialRemoval> {
    if (known.email_verified_at === null) return credentials.prepareWholeRemoval(known.user_id)
    return removePasskeys ? credentials.preparePasskeyRemoval(known.user_id) : noRemoval
  }

  /** For the command line. Ends what a reset ends, but does not verify the address. */
  async function set(given: { user: { id: number; email: string }; password: string; client: Client }): Promise<void> {
    const { user, password, client } = given
    deps.requireImpersonal({ field: 'password', password, email: user.email })
    const passwordHash = await passwords.hash(password, client)
    await db.write(
      lockout.unlockWithoutSecondFactor(user),
      accounts.setPassword(user.id, passwordHash),
      sessions.revokeAll(user.id, 'administrator'),
      ...devices.forgetAll(user.id),
      mailedTokens.voidAll(user.id),
      audit.entry({ event: 'password_reset', outcome: 'success', userId: user.id, actorId: null, client }),
    )
    await deps.onAccessChanged(user.id)
  }

  return {
    canMail: mail !== undefined,
    delivery: mail?.delivery ?? ('none' as const),
    describeReset,
    forgot,
    reset,
    set,
  }
}
