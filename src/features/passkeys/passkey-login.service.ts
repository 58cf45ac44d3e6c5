/** Signing in with a passkey. User verification by the authenticator makes it both factors. */
import { credentialErrors } from '../../core/credential-errors.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { CeremonyOptions } from './ceremony-options.ts'
import type { Challenges } from './challenges.ts'
import type { AuthenticationResponse } from './passkeys.schema.ts'
import type { PasskeyRow, PasskeyStore } from './passkeys.store.ts'
import { type Assertion, challengeIn, type WebAuthn } from './webauthn.ts'

export interface PasskeyLoginDeps {
  db: Database
  store: PasskeyStore
  challenges: Challenges
  ceremonies: CeremonyOptions
  webAuthn: WebAuthn
  auth: Pick<AuthService, 'login' | 'accounts' | 'stillHasVersion' | 'verifiesEmail' | 'verification'>
  audit: Audit
}

export interface PasskeyLogin {
  response: AuthenticationResponse
  deviceToken: string | undefined
  client: Client
}

const event = 'passkey_login'
const purpose = 'login'
/** Unknown credentials are verified with this key, so that they take as long as known ones. Nobody has its private key. */
const decoyKey =
  'pQECAyYgASFYID8cqw1na4ODpAH6zB61SVvielEDgR-2E9bDqAJuY3-fIlggtET-bDwICi5iIHcBMyfD1yUKWPbRchgcWsR0u0BdnzA'

export function createPasskeyLogin(deps: PasskeyLoginDeps) {
  const { db, store, challenges, ceremonies, webAuthn, auth, audit } = deps
  const createOptions = () => ceremonies.forRequest(challenges.issue(purpose))

  /** Clients get the same error in all cases, which reveals nothing about credentials, users or counters. */
  async function refuse(userId: number | null, client: Client, why: AuditEvent = event): Promise<Error> {
    await db.write(audit.entry({ event: why, outcome: 'failure', userId, actorId: null, client }))
    audit.count(event, 'failure')
    return credentialErrors.invalidCredentials()
  }

  async function logIn({ response, deviceToken, client }: PasskeyLogin) {
    const text = challengeIn(response.response.clientDataJSON)
    const challenge = challenges.read(text, purpose)
    if (!challenge) throw await refuse(null, client)
    const passkey = await store.findByCredential(response.id)
    const publicKey = passkey?.public_key ?? decoyKey
    const assertion = await webAuthn.verifyAssertion(response, { challenge: text, publicKey })
    if (!passkey || !assertion || response.response.userHandle !== passkey.user_handle) {
      throw await refuse(passkey?.user_id ?? null, client)
    }
    const account = await auth.accounts.findById(passkey.user_id)
    // After the passkey was read. The counter of a replayed response cannot have increased, so it is not checked.
    if (!account || account.disabled_at !== null || (await challenge.isUsed())) {
      throw await refuse(passkey.user_id, client)
    }
    if (hasGoneBack(passkey, assertion)) throw await refuse(account.id, client, 'passkey_counter')
    if (auth.verifiesEmail && account.email_verified_at === null) {
      await db.write(audit.entry({ event, outcome: 'refused', userId: account.id, actorId: null, client }))
      auth.verification.request(account.id)
      throw credentialErrors.emailNotVerified()
    }
    // Consumed in the batch that creates the session, so only one of any number of racers wins.
    const before = [
      auth.stillHasVersion(account.id, account.token_version),
      challenge.use,
      store.use(passkey.id, assertion),
    ]
    const signedIn = await auth.login.completeProven({ account, deviceToken, event, client, before })
    if (!signedIn) throw await refuse(account.id, client)
    return signedIn
  }

  return { createOptions, logIn }
}

export type PasskeyLogins = ReturnType<typeof createPasskeyLogin>

/** A sign of a cloned authenticator. The counter of synced passkeys is always 0. */
function hasGoneBack({ counter: last }: PasskeyRow, { counter }: Assertion): boolean {
  return (counter > 0 || last > 0) && counter <= last
}
