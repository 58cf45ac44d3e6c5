/** Signing in by password, second factor or passkey, and out again. */
import { type Api, requireAnswer } from './api.ts'
import { LatchkeyError, SessionEndedError } from './errors.ts'
import { type Session, sessionOf, type TokenPair } from './session.ts'
import type { StoredState } from './storage/storage.ts'

export interface SignInDeps {
  /** Without a token. */
  anonymous: Api
  api: Api
  session: Session
}

/** Plain data, valid for five minutes. */
export interface TwoFactorChallenge {
  token: string
  email: string
}

export type LoginOutcome = { kind: 'signed_in' } | { kind: 'two_factor'; challenge: TwoFactorChallenge }

export interface PasskeyOptions {
  /** `conditional`: the browser offers passkeys in a field with `autocomplete="username webauthn"`. */
  mediation?: 'optional' | 'required' | 'conditional' | 'silent'
  signal?: AbortSignal
}

const maxDevices = 10

export function createSignIn({ anonymous, api, session }: SignInDeps) {
  const deviceHeader = (state: StoredState, account: string) => {
    const token = state.devices?.[account] ?? state.devices?.['']
    return token === undefined ? {} : { 'x-device-token': token }
  }

  async function keep(pair: TokenPair, headers: Headers, account: string): Promise<void> {
    const device = headers.get('x-device-token')
    await session.update(({ devices = {}, ...state }) => {
      const { [account]: _, ...others } = devices
      const entries = Object.entries(others).slice(1 - maxDevices)
      return {
        ...state,
        session: sessionOf(pair, account),
        ended: undefined,
        lease: undefined,
        devices: device === null ? devices : { ...Object.fromEntries(entries), [account]: device },
      }
    })
  }

  return {
    async login({ email, password }: { email: string; password: string }): Promise<LoginOutcome> {
      const account = email.trim().toLowerCase()
      const header = deviceHeader(await session.read(), account)
      const sent = anonymous.POST('/api/auth/login', { params: { header }, body: { email, password } })
      const { data, headers } = await requireAnswer(sent)
      if ('requires_2fa' in data) {
        return { kind: 'two_factor', challenge: { token: data.challenge_token, email: account } }
      }
      await keep(data, headers, account)
      return { kind: 'signed_in' }
    },

    /** With a code of the authenticator app, or a recovery code. */
    async verifyTwoFactor({ challenge, code }: { challenge: TwoFactorChallenge; code: string }): Promise<void> {
      const header = deviceHeader(await session.read(), challenge.email)
      const body = { challenge_token: challenge.token, code }
      const { data, headers } = await requireAnswer(
        anonymous.POST('/api/auth/2fa/verify', { params: { header }, body }),
      )
      await keep(data, headers, challenge.email)
    },

    /** In a browser, at the origin of the service's public URL. */
    async passkey(options: PasskeyOptions = {}): Promise<void> {
      const { data: request } = await requireAnswer(anonymous.POST('/api/auth/passkeys/login/options'))
      const response = await askAuthenticator(request, options)
      const { data, headers } = await requireAnswer(
        anonymous.POST('/api/auth/passkeys/login', { body: { response } as never }),
      )
      await keep(data, headers, '')
    },

    /**
     * Ends the session of this device, or all sessions of the user. Nobody is signed in here afterwards, even if it throws
     * because the service could not be reached.
     */
    async logout({ everywhere = false }: { everywhere?: boolean } = {}): Promise<void> {
      const state = await session.read()
      if (!state.session) return
      const { family, account } = state.session
      try {
        if (everywhere) {
          const header = deviceHeader(state, account)
          await requireAnswer(api.POST('/api/auth/logout', { params: { header }, body: { all_devices: true } }))
        } else {
          // Not /api/auth/logout, which leaves the refresh token valid.
          await requireAnswer(api.DELETE('/api/auth/sessions/{id}', { params: { path: { id: family } } }))
        }
      } catch (error) {
        const isOver = error instanceof SessionEndedError || (error instanceof LatchkeyError && error.status === 404)
        if (!isOver) throw error
      } finally {
        await session.update((now) =>
          now.session?.family === family
            ? { ...now, session: undefined, lease: undefined, ended: { reason: 'signed_out', at: Date.now() } }
            : now,
        )
      }
    },

    me: async () => (await requireAnswer(api.GET('/me'))).data,
  }
}

/** Only browsers have these. */
interface BrowserGlobals {
  PublicKeyCredential?: { parseRequestOptionsFromJSON(options: unknown): unknown }
  navigator?: { credentials?: { get(options: object): Promise<{ toJSON(): unknown } | null> } }
}

async function askAuthenticator(
  request: unknown,
  { mediation = 'optional', signal }: PasskeyOptions,
): Promise<unknown> {
  const { PublicKeyCredential, navigator } = globalThis as BrowserGlobals
  if (!PublicKeyCredential || !navigator?.credentials) throw new Error('Passkeys need a browser')
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(request)
  const credential = await navigator.credentials.get({ publicKey, mediation, ...(signal && { signal }) })
  if (!credential) throw new Error('No passkey was chosen')
  return credential.toJSON()
}
