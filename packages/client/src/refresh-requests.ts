/** The two requests about a refresh token: its exchange, and why its session ended. */
import { errorOf, isTemporary, retryAfterOf } from './errors.ts'
import type { TokenPair } from './session.ts'
import type { EndReason, StoredSession } from './storage/storage.ts'
import { backoffMs, sleep } from './waiting.ts'

/** `lost`: it is not known whether the service has received the request. */
export type RefreshOutcome =
  | { kind: 'refreshed'; pair: TokenPair }
  | { kind: 'refused' }
  | { kind: 'lost'; retryAfterMs?: number }

export const requestTimeoutMs = 10_000
/** How long the service takes the same request again. */
const repeatableMs = 60_000
/** How often the service is asked why a session ended. */
const maxQuestions = 4

export function createRefreshRequests({ url, fetch }: { url: string; fetch: typeof globalThis.fetch }) {
  function post(path: string, refreshToken: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ refresh_token: refreshToken }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
  }

  return {
    async exchange({ refreshToken }: StoredSession, key: string): Promise<RefreshOutcome> {
      let response: Response
      let body: unknown
      try {
        response = await post('/api/auth/refresh', refreshToken, { 'idempotency-key': key })
        body = await response.json()
      } catch {
        return { kind: 'lost' }
      }
      if (response.ok) return isPair(body) ? { kind: 'refreshed', pair: body } : { kind: 'lost' }
      if (isTemporary(response.status)) {
        const seconds = retryAfterOf(response.headers)
        return { kind: 'lost', ...(seconds !== undefined && { retryAfterMs: seconds * 1000 }) }
      }
      // Only the service itself ends a session, not a proxy that answers in its place.
      if (response.status === 401 && textOf(body) === 'Invalid refresh token') return { kind: 'refused' }
      throw errorOf(response, body)
    },

    async explainEnd({ refreshToken, refresh }: StoredSession): Promise<EndReason> {
      const wasInterrupted = refresh !== undefined && Date.now() - refresh.since > repeatableMs
      for (let failures = 0; failures < maxQuestions; failures++) {
        try {
          const response = await post('/api/auth/sessions/ended', refreshToken)
          const { data } = (await response.json()) as { data?: { reason?: EndReason } | null }
          const reason = data?.reason ?? 'unknown'
          return reason === 'reuse' && wasInterrupted ? 'interrupted' : reason
        } catch {
          await sleep(backoffMs(failures))
        }
      }
      return 'unknown'
    },
  }
}

function isPair(body: unknown): body is TokenPair {
  const { access_token, refresh_token } = (body ?? {}) as Partial<TokenPair>
  return typeof access_token === 'string' && typeof refresh_token === 'string'
}

function textOf(body: unknown): unknown {
  return ((body ?? {}) as { error?: unknown }).error
}
