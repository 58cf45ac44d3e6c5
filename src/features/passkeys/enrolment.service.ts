/** A user's own passkeys: adding, listing and removing them. */
import { createHmac, hkdfSync } from 'node:crypto'
import { credentialErrors } from '../../core/credential-errors.ts'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { CeremonyOptions } from './ceremony-options.ts'
import type { Challenges } from './challenges.ts'
import { passkeyErrors } from './passkeys.errors.ts'
import type { RegistrationResponse } from './passkeys.schema.ts'
import { type ListedPasskey, maxPasskeys, type PasskeyStore } from './passkeys.store.ts'
import { challengeIn, type WebAuthn } from './webauthn.ts'

export interface EnrolmentDeps {
  db: Database
  random: Random
  store: PasskeyStore
  challenges: Challenges
  ceremonies: CeremonyOptions
  webAuthn: WebAuthn
  login: Pick<AuthService['login'], 'confirmPassword' | 'requireOpen'>
  stillHasVersion: AuthService['stillHasVersion']
  audit: Audit
  secret: string
}

interface Actor {
  principal: Principal
  client: Client
}

export function createEnrolment(deps: EnrolmentDeps) {
  const { db, random, store, challenges, ceremonies, webAuthn, login, audit } = deps
  const handleKey = Buffer.from(hkdfSync('sha256', deps.secret, '', 'latchkey passkey user handles', 32))

  /** The WebAuthn user handle. It must not contain personal data (WebAuthn, 14.6.1). */
  const userHandleOf = (userId: number) => createHmac('sha256', handleKey).update(String(userId)).digest('base64url')

  /** Only the session that has confirmed the password can use the challenge. */
  const purposeOf = ({ id, session }: Principal) => `enrolment ${id} ${session}`

  /** Requires the password, so that nobody can add a passkey in a browser that was left open. */
  async function createOptions({ principal, client, password }: Actor & { password: string }) {
    const event = 'passkey_added'
    const { account, attempt, guards } = await login.confirmPassword({ principal, password, event, client })
    const [passed] = await db.write(...guards)
    if (!passed?.length) {
      await login.requireOpen(attempt)
      throw credentialErrors.invalidCredentials()
    }
    const existing = await store.listCredentials(account.id)
    if (existing.length >= maxPasskeys) throw passkeyErrors.tooMany()
    return ceremonies.forCreation({
      challenge: challenges.issue(purposeOf(principal)),
      userHandle: userHandleOf(account.id),
      email: account.email,
      name: principal.name,
      existing,
    })
  }

  async function add(given: Actor & { name: string; response: RegistrationResponse }): Promise<ListedPasskey> {
    const { principal, client, response } = given
    const { id: userId } = principal
    const text = challengeIn(response.response.clientDataJSON)
    const challenge = challenges.read(text, purposeOf(principal))
    const credential = challenge && (await webAuthn.verifyRegistration(response, text))
    const entry = { event: 'passkey_added', userId, actorId: userId, client }
    if (!challenge || !credential) {
      await db.write(audit.entry({ ...entry, outcome: 'failure' }))
      throw passkeyErrors.invalidPasskey()
    }
    const passkey = {
      ...credential,
      id: random.id(),
      userId,
      userHandle: userHandleOf(userId),
      name: given.name.trim(),
    }
    const [, , [added] = []] = await db.write<ListedPasskey>(
      deps.stillHasVersion(userId, principal.tokenVersion),
      challenge.use,
      store.insert(passkey),
      audit.entry({ ...entry, outcome: 'success' }),
    )
    if (added) return added
    if (await challenge.isUsed()) throw passkeyErrors.invalidPasskey()
    if (await store.findByCredential(credential.credentialId)) throw passkeyErrors.alreadyRegistered()
    if ((await store.listCredentials(userId)).length >= maxPasskeys) throw passkeyErrors.tooMany()
    // The password was changed meanwhile.
    throw passkeyErrors.invalidPasskey()
  }

  async function remove({ principal, client, id, password }: Actor & { id: string; password: string }): Promise<void> {
    const event = 'passkey_removed'
    const { id: userId } = principal
    // Checked first, so that an unknown id does not cost an attempt.
    if (!(await store.find(userId, id))) throw httpErrors.notFound()
    const { attempt, guards } = await login.confirmPassword({ principal, password, event, client })
    const [passed] = await db.write(
      ...guards,
      store.remove(userId, id),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    )
    if (passed?.length) return
    await login.requireOpen(attempt)
    throw (await store.find(userId, id)) ? credentialErrors.invalidCredentials() : httpErrors.notFound()
  }

  return { createOptions, add, remove, list: store.list, find: store.find }
}

export type Enrolment = ReturnType<typeof createEnrolment>
