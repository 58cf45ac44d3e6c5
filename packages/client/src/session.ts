/** The stored session as the rest of the client sees it, and its listeners. */
import type { LatchkeyStorage, SessionEnd, StoredSession, StoredState } from './storage/storage.ts'

export type SessionStatus =
  | { kind: 'signed_in'; userId: number }
  /** Without `end`, nobody was signed in before. */
  | { kind: 'signed_out'; end?: SessionEnd }

export interface TokenPair {
  access_token: string
  refresh_token: string
}

/** A token is replaced a little before it expires: by a tenth of its lifetime, at most ten seconds. */
const marginShare = 0.1
const maxMarginMs = 10_000

export function createSession({ storage }: { storage: LatchkeyStorage }) {
  /** With what each was told last. */
  const listeners = new Map<(status: SessionStatus) => void, string>()
  let unwatch: (() => void) | undefined

  /** Tells the listeners if something is new. Called with every state that is read or written. */
  function notice(state: StoredState): StoredState {
    const status = statusOf(state)
    const text = `${state.session?.family} ${JSON.stringify(status)}`
    for (const [listener, last] of listeners) {
      if (last === text) continue
      listeners.set(listener, text)
      listener(status)
    }
    return state
  }

  const read = async () => notice(await storage.read())

  return {
    read,
    update: async (change: (state: StoredState) => StoredState) => notice(await storage.update(change)),
    status: async () => statusOf(await read()),

    /** Calls the listener with the status of now, and after each change. Returns a function that ends this. */
    onChange(listener: (status: SessionStatus) => void): () => void {
      listeners.set(listener, '')
      const ignoreFailure = () => {}
      unwatch ??= storage.watch?.(() => void read().catch(ignoreFailure))
      void read().catch(ignoreFailure)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        unwatch?.()
        unwatch = undefined
      }
    },
  }
}

export type Session = ReturnType<typeof createSession>

function statusOf({ session, ended }: StoredState): SessionStatus {
  if (session) return { kind: 'signed_in', userId: session.userId }
  return { kind: 'signed_out', ...(ended && { end: ended }) }
}

/** Lifetimes are counted from now, by this machine's clock, which may differ from that of the service. */
export function sessionOf(pair: TokenPair, account: string): StoredSession {
  const { sub, family, iat, exp } = readClaims(pair.access_token)
  const lifetimeMs = (exp - iat) * 1000
  return {
    accessToken: pair.access_token,
    refreshToken: pair.refresh_token,
    staleAt: Date.now() + lifetimeMs - Math.min(maxMarginMs, lifetimeMs * marginShare),
    userId: Number(sub),
    family,
    account,
  }
}

function readClaims(token: string): { sub: string; family: string; iat: number; exp: number } {
  const [, payload = ''] = token.split('.')
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
}
