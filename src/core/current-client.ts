/**
 * The client for which work is done, known across `await`. Slow reads take turns between clients by it, and end when the
 * client disconnects.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError, isAppError } from './app-error.ts'

export interface CurrentClient {
  /** Equal for requests of the same address. */
  readonly key: string
  isGone(): boolean
  /** Calls the listener once, when the client disconnects. Returns a function that removes it. */
  onGone(listener: () => void): () => void
}

const storage = new AsyncLocalStorage<(() => CurrentClient | undefined) | undefined>()

/** `find` is called for each read, and returns undefined once the work is no longer for this client alone. */
export function runForClient<T>(find: () => CurrentClient | undefined, work: () => T): T {
  return storage.run(find, work)
}

/** For work whose result others share, or that outlives the request that starts it. */
export function runForNobody<T>(work: () => T): T {
  return storage.run(undefined, work)
}

export function currentClient(): CurrentClient | undefined {
  return storage.getStore()?.()
}

/** 499 as in nginx. Seen only in log and metrics. */
export function clientGone(): AppError {
  return new AppError(499, 'Client closed the connection', { code: 'client_closed' })
}

export function isClientGone(error: unknown): boolean {
  return isAppError(error, 'client_closed')
}
