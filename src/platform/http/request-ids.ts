/** Request ids, sent with the response and in every log line of the request. */
import type { IncomingMessage } from 'node:http'
import type { Random } from '../../core/random.ts'

const acceptable = /^[\w.:@/+=-]{1,128}$/

/**
 * A random prefix and a counter: unique across nodes and restarts, and much cheaper than random ids. Ids of trusted
 * proxies are kept, so that log lines can be correlated.
 */
export function createRequestIds(random: Random, isTrusted: (address: string | undefined) => boolean) {
  const prefix = random.bytes(6).toString('hex')
  let count = 0
  const create = () => `${prefix}-${(++count).toString(36)}`
  return {
    create,
    of(request: IncomingMessage): string {
      const given = request.headers['x-request-id']
      if (typeof given === 'string' && acceptable.test(given) && isTrusted(request.socket.remoteAddress)) return given
      return create()
    },
  }
}
