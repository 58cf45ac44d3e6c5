/** Every request has an id, which the answer and the log carry. */
import type { IncomingMessage } from 'node:http'
import type { Random } from '../../core/random.ts'

const acceptable = /^[\w.:@/+=-]{1,128}$/

/**
 * A random start and a counter: unique across nodes and restarts, for a fraction of the cost of a random id. A trusted
 * proxy's own id is kept, so that its log and ours tell the same story.
 */
export function createRequestIds(random: Random, isTrusted: (address: string | undefined) => boolean) {
  const start = random.bytes(6).toString('hex')
  let count = 0
  const create = () => `${start}-${(++count).toString(36)}`
  return {
    create,
    of(request: IncomingMessage): string {
      const given = request.headers['x-request-id']
      if (typeof given === 'string' && acceptable.test(given) && isTrusted(request.socket.remoteAddress)) return given
      return create()
    },
  }
}
