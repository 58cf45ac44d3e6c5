import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { AuthService } from '../auth/auth.create.ts'
import { createCodeCheck } from './code-check.ts'
import { toQrCode } from './qr-code.ts'
import { createTwoFactor } from './two-factor.service.ts'
import { createTwoFactorStore } from './two-factor.store.ts'

export type TwoFactorService = ReturnType<typeof createTwoFactorService>

export function createTwoFactorService(infrastructure: Infrastructure, { auth }: { auth: AuthService }) {
  const { db, clock, random, log, audit, secrets, singleUseIds } = infrastructure
  const store = createTwoFactorStore({ db })
  const { encryption } = secrets
  const codes = createCodeCheck({ clock, log, store, singleUseIds, encryption })
  auth.secondFactor.provide(codes)
  auth.credentials.provide({
    name: 'pending_two_factor',
    count: async (userId) => ((await store.find(userId))?.enabled === false ? 1 : 0),
    removeAll: store.removePending,
  })
  return {
    ...createTwoFactor({
      db,
      clock,
      random,
      store,
      codes,
      login: auth.login,
      encryption,
      issuer: auth.issuerName,
      stillHasVersion: auth.stillHasVersion,
      audit,
    }),
    /** By user, because every request costs a hash or is a guess. */
    limiter: auth.limiters.confirm,
    /** Returns a data URI. */
    drawQrCode: toQrCode,
    /** Statements for the batches of other features. */
    remove: store.remove,
  }
}
