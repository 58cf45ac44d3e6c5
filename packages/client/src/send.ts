/** Requests whose answers are not described: to collections, and to change logs. */
import type { Access } from './access.ts'
import { errorOf } from './errors.ts'

export interface SendOptions {
  method?: string
  body?: object
  headers?: Record<string, string>
  signal?: AbortSignal
}

export type Send = ReturnType<typeof createSend>

/** Returns what the service answers, or throws its error. */
export function createSend({ url, access }: { url: string; access: Access }) {
  return async function send<Body>(path: string, { body, headers, ...rest }: SendOptions = {}) {
    const sent = body && { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
    const response = await access.send(new Request(url + path, { ...rest, ...(sent ?? (headers && { headers })) }))
    const answer = (await response.json().catch(() => undefined)) as Body
    if (!response.ok) throw errorOf(response, answer)
    return { body: answer, headers: response.headers }
  }
}
