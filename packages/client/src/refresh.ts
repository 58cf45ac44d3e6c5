/**
 * Replaces an access token that has expired: once for any number of callers, tabs and processes that share a storage, and
 * without losing the session if the answer is lost.
 *
 * A refresh token works once. But the same token with the same Idempotency-Key, within 60 seconds, is the same request to the
 * service, and gets the same answer. So the key is stored beside the token before anything is sent. Whoever finds both there,
 * after a lost answer or the end of the tab that sent them, sends the same request again. Keeping others out while one
 * refreshes only saves requests; nothing depends on it.
 */
import { unreachable } from './errors.ts'
import { createRefreshRequests, requestTimeoutMs } from './refresh-requests.ts'
import { type Session, sessionOf, type TokenPair } from './session.ts'
import type { LatchkeyStorage, StoredSession, StoredState } from './storage/storage.ts'
import { backoffMs, randomKey, sleep } from './waiting.ts'

export interface RefreshDeps {
  url: string
  fetch: typeof globalThis.fetch
  storage: LatchkeyStorage
  session: Session
}

/** Long enough for a request; whoever holds a lease takes it again before the next one. */
const leaseMs = 3000
/** How often a client looks whether another one has finished. */
const pollMs = 100
/** A caller gets an error after so long without an answer. The refresh itself is gone on with by the next caller. */
const maxWaitMs = 30_000

export function createRefresh({ url, fetch, storage, session }: RefreshDeps) {
  const requests = createRefreshRequests({ url, fetch })
  const owner = randomKey()
  let running: Promise<void> | undefined

  /** Returns once the stored session has another access token than this one, or is over. */
  function replace(used: string): Promise<void> {
    running ??= keepOthersOut((isLeased) => run(used, isLeased)).finally(() => {
      running = undefined
    })
    return running
  }

  async function keepOthersOut(task: (isLeased: boolean) => Promise<void>): Promise<void> {
    const locks = storage.webLock === undefined ? undefined : findWebLocks()
    if (!locks || storage.webLock === undefined) return task(storage.isPrivate !== true)
    const signal = AbortSignal.timeout(maxWaitMs)
    let hasLock = false
    const wait = locks.request(storage.webLock, { signal }, () => {
      hasLock = true
      return task(false)
    })
    // Whoever has the lock cannot reach the service for so long.
    return wait.catch((error: unknown) => {
      throw hasLock ? error : unreachable(error)
    })
  }

  async function run(used: string, isLeased: boolean): Promise<void> {
    const startedAt = Date.now()
    const key = (await storage.retryKey?.((await storage.read()).session?.refreshToken ?? '')) ?? randomKey()
    for (let failures = 0; ; ) {
      const askedAt = Date.now()
      const { session: present, lease } = await session.update((state) => prepare(state, { used, key, isLeased }))
      if (!present?.refresh || present.accessToken !== used) return
      if (isLeased && lease?.owner !== owner) {
        await sleep(pollMs * (0.5 + Math.random()))
      } else if (Date.now() - askedAt < requestTimeoutMs) {
        const outcome = await requests.exchange(present, present.refresh.key)
        if (outcome.kind === 'refreshed') return void (await keep(present, outcome.pair))
        if (outcome.kind === 'refused') return void (await end(present))
        await sleep(outcome.retryAfterMs ?? backoffMs(failures++))
      }
      // Otherwise this machine was asleep in between, and others may have gone on: what is stored is read again.
      if (Date.now() - startedAt > maxWaitMs) throw unreachable()
    }
  }

  /** Stores the key, and takes the lease unless somebody else has it. */
  function prepare(state: StoredState, { used, key, isLeased }: { used: string; key: string; isLeased: boolean }) {
    const { session: present, lease } = state
    if (!present || present.accessToken !== used) return state
    const now = Date.now()
    // One that ends later than any can was made by another clock.
    const isHeld = lease !== undefined && lease.owner !== owner && lease.until > now && lease.until <= now + leaseMs
    if (isLeased && isHeld) return state
    const refresh = present.refresh ?? { key, since: now }
    return {
      ...state,
      ...(isLeased && { lease: { owner, until: now + leaseMs } }),
      session: { ...present, refresh },
    }
  }

  /** Unless the session was replaced or ended meanwhile. */
  function keep({ refreshToken, account }: StoredSession, pair: TokenPair): Promise<StoredState> {
    return session.update((state) =>
      state.session?.refreshToken === refreshToken
        ? { ...state, session: sessionOf(pair, account), lease: undefined }
        : state,
    )
  }

  async function end(present: StoredSession): Promise<void> {
    const reason = await requests.explainEnd(present)
    await session.update((state) =>
      state.session?.refreshToken === present.refreshToken
        ? { ...state, session: undefined, lease: undefined, ended: { reason, at: Date.now() } }
        : state,
    )
  }

  return { replace }
}

export type Refresh = ReturnType<typeof createRefresh>

interface WebLocks {
  request(name: string, options: { signal: AbortSignal }, task: () => Promise<void>): Promise<void>
}

/** Pages without https have none, nor have old versions of Node. */
function findWebLocks(): WebLocks | undefined {
  return (globalThis as { navigator?: { locks?: WebLocks } }).navigator?.locks
}
