/** What long answers hold in memory, from when they are written until their clients have read them. */
import type { ServerResponse } from 'node:http'
import { httpErrors } from './errors.ts'

export type Reserve = (bytes: number) => void

/** All of them together may hold so many bytes: whoever comes then is asked to come again. */
export function createInFlight(maxBytes: number): (response: ServerResponse) => Reserve {
  let inFlight = 0

  /** Takes of those bytes, until the connection has got the answer or is gone. */
  return (response) => {
    let reserved = 0
    return (bytes) => {
      // Whoever has gone would never give them back, and needs no answer.
      if (response.closed || response.destroyed || inFlight + bytes > maxBytes) throw httpErrors.unavailable()
      if (reserved === 0) {
        response.once('close', () => {
          inFlight -= reserved
        })
      }
      reserved += bytes
      inFlight += bytes
    }
  }
}
