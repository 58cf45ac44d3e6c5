import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { AdminService } from '../admin/admin.create.ts'
import type { AuthService } from '../auth/auth.create.ts'
import { createAdministration } from './administration.service.ts'
import { createCeremonyOptions } from './ceremony-options.ts'
import { createChallenges } from './challenges.ts'
import { createEnrolment } from './enrolment.service.ts'
import { createPasskeyLogin } from './passkey-login.service.ts'
import { createPasskeyStore, type PasskeyStore } from './passkeys.store.ts'
import { createRelyingParty, type RelyingParty } from './relying-party.ts'
import { createWebAuthn } from './webauthn.ts'

export interface PasskeysService {
  /** Undefined without a relying party: stored passkeys stay, but there are neither endpoints nor pages. */
  usable: UsablePasskeys | undefined
}

export type UsablePasskeys = ReturnType<typeof createUsablePasskeys>

interface PasskeysNeeds {
  auth: AuthService
  admin: AdminService
}

interface UsableDeps extends PasskeysNeeds {
  store: PasskeyStore
  party: RelyingParty
}

export function createPasskeysService(infrastructure: Infrastructure, needs: PasskeysNeeds): PasskeysService {
  const { auth } = needs
  const { db, clock, config } = infrastructure
  const store = createPasskeyStore({ db, clock })
  auth.credentials.provide({ name: 'passkeys', count: store.count, removeAll: store.removeAll })
  const party = createRelyingParty({
    publicUrl: config.server.publicUrl,
    isDevelopment: config.isDevelopment,
    name: auth.issuerName,
  })
  return { usable: party && createUsablePasskeys(infrastructure, { ...needs, store, party }) }
}

function createUsablePasskeys(infrastructure: Infrastructure, { auth, admin, store, party }: UsableDeps) {
  const { db, clock, random, log, audit, secrets, singleUseIds } = infrastructure
  const secret = secrets.current
  const challenges = createChallenges({ clock, random, singleUseIds, secret })
  const ceremonies = createCeremonyOptions(party)
  const webAuthn = createWebAuthn({ party, log })
  const shared = { db, store, challenges, ceremonies, webAuthn, audit }
  const { login, stillHasVersion, limiters, deviceHeader, signInBrowser } = auth
  return {
    party,
    own: createEnrolment({ ...shared, random, login, stillHasVersion, secret }),
    login: createPasskeyLogin({ ...shared, auth }),
    administration: createAdministration({ db, store, admin: admin.admin }),
    deviceHeader,
    signInBrowser,
    limiters: {
      /** Per client address. */
      login: limiters.login,
      options: limiters.signInOptions,
      /** Per user, because every request costs a hash or a signature. */
      own: limiters.confirm,
    },
  }
}
