/** Sends requests with the access token of the stored session, and with a new one where it has expired. */
import { isTemporary, LatchkeyError, retryAfterOf, SessionEndedError, unreachable } from './errors.ts'
import type { Refresh } from './refresh.ts'
import type { Session } from './session.ts'
import type { SessionEnd } from './storage/storage.ts'
import { backoffMs, sleep } from './waiting.ts'

export interface AccessDeps {
  fetch: typeof globalThis.fetch
  session: Session
  refresh: Refresh
  /** Sent instead of an access token. */
  apiKey: string | undefined
}

/** Answers that are lost before the caller gets an error. */
const maxLosses = 4
/** New tokens for one request. A second one is needed if the first expires before it is used. */
const maxRefusals = 3
const unknownEnd = (): SessionEnd => ({ reason: 'unknown', at: Date.now() })

export function createAccess({ fetch, session, refresh, apiKey }: AccessDeps) {
  async function sendOnce(request: Request): Promise<Response> {
    return fetch(request).catch((error: unknown) => {
      throw request.signal.aborted ? error : unreachable(error)
    })
  }

  /** A token that has not expired, by this machine's clock; undefined where nobody is signed in. */
  async function findToken(): Promise<string | undefined> {
    if (apiKey !== undefined) return apiKey
    const { session: present } = await session.read()
    if (!present || present.staleAt > Date.now()) return present?.accessToken
    return renew(present.accessToken)
  }

  /** The token after this one. Throws SessionEndedError if there is none. */
  async function renew(used: string): Promise<string> {
    if (apiKey !== undefined) throw new LatchkeyError('Invalid access token', { status: 401 })
    await refresh.replace(used)
    const { session: present, ended } = await session.read()
    if (!present) throw new SessionEndedError(ended ?? unknownEnd())
    return present.accessToken
  }

  /** Repeats a request whose answer was lost, where that does no harm: a GET, or one with an Idempotency-Key. */
  async function send(request: Request): Promise<Response> {
    const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key')
    let token = await findToken()
    let [losses, refusals] = [0, 0]
    for (;;) {
      const response = await sendOnce(authorized(request, token)).catch((error: unknown) => error)
      if (!(response instanceof Response)) {
        if (!isRepeatable || !(response instanceof LatchkeyError) || ++losses === maxLosses) throw response
        await sleep(backoffMs(losses), request.signal)
      } else if (token !== undefined && refusals < maxRefusals && (await isRefused(response))) {
        refusals += 1
        token = await renew(token)
      } else if (isRepeatable && isTemporary(response.status)) {
        const seconds = retryAfterOf(response.headers) ?? 0
        // Whoever is to wait for longer decides that for themselves.
        if (seconds > 1 || ++losses === maxLosses) return response
        await response.body?.cancel()
        await sleep(Math.max(seconds * 1000, backoffMs(losses)), request.signal)
      } else return response
    }
  }

  return { findToken, renew, send, sendOnce }
}

export type Access = ReturnType<typeof createAccess>

function authorized(request: Request, token: string | undefined): Request {
  const copy = request.clone()
  if (token !== undefined) copy.headers.set('authorization', `Bearer ${token}`)
  return copy
}

/** The header that says the same, WWW-Authenticate, cannot be read by a page of another origin. */
async function isRefused(response: Response): Promise<boolean> {
  return response.status === 401 && (await response.clone().text()).includes('Invalid access token')
}
