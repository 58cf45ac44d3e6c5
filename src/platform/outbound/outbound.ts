/**
 * HTTP requests to URLs that users choose, which must not reach the inside of the network. A name is resolved once, all
 * of its addresses are checked, and the connection goes to one of them. Redirects are answers like others.
 */
import { isIP } from 'node:net'
import { TimeoutError, withTimeout } from '../../core/timeout.ts'
import { createAgent, type KeptConnection } from './connections.ts'
import { type Answer, exchange, StaleConnectionError } from './exchange.ts'
import { createNameLookups, type NameLookupsOptions } from './name-lookups.ts'
import { OutboundError } from './outbound-error.ts'
import { canConnectTo } from './public-address.ts'
import { hostOf, refuseUrl } from './refuse-url.ts'

export interface OutboundOptions extends NameLookupsOptions {
  /** Allows http:// as well, and addresses of private networks and of this machine. */
  allowPrivate: boolean
  /** For tests: the only certificate authority that is trusted, as PEM. */
  ca?: string
}

export interface OutboundRequest {
  headers: Record<string, string>
  body: string
  /** For everything from resolving the name to the end of the answer. */
  timeoutMs: number
  signal?: AbortSignal
  /** For requests to one URL, one after the other. Otherwise, the request has a connection of its own. */
  connection?: KeptConnection | undefined
}

export interface OutboundAnswer {
  status: number
  /** At most 1,000 characters, for people to look at. */
  body: string
  durationMs: number
  /** What the request was sent to. */
  address: string
}

export interface Outbound {
  /** Resolves with any status, 3xx included. Rejects with an OutboundError if there is no answer. */
  post(url: string, request: OutboundRequest): Promise<OutboundAnswer>
  /** Ends the requests under way. */
  close(): void
}

export function createOutbound({ allowPrivate, ca, ...names }: OutboundOptions): Outbound {
  const underWay = new Set<() => void>()
  let isClosed = false
  const lookUp = createNameLookups(names)

  async function findAddresses(host: string, signal: AbortSignal): Promise<string[]> {
    if (isIP(host)) return [host]
    const found = await lookUp(host, signal)
    if (found.length === 0) throw new OutboundError('unresolved', 'The host name could not be resolved')
    return found
  }

  async function deliver(text: string, request: OutboundRequest, signal: AbortSignal): Promise<Answer> {
    const problem = refuseUrl(text, { allowPrivate })
    if (problem !== undefined) throw new OutboundError('refused_address', `The URL ${lowerFirst(problem)}`)
    const url = new URL(text)
    const { headers, body, connection } = request
    const open = connection?.find(url)
    if (open) {
      try {
        return await exchange({ url, agent: open, addresses: [], headers, body, signal, ca })
      } catch (error) {
        if (!(error instanceof StaleConnectionError)) throw error
      }
    }
    const addresses = await findAddresses(hostOf(url), signal)
    // All of them: a name that resolves to the inside and the outside is a trap or a mistake, and which of its addresses is
    // used would be a matter of luck.
    if (!addresses.every((address) => canConnectTo(address, { allowPrivate }))) {
      throw new OutboundError('refused_address', 'The host name resolves to an address that is not public')
    }
    signal.throwIfAborted()
    const agent = connection?.renew(url) ?? createAgent(url)
    return exchange({ url, agent, addresses, headers, body, signal, ca })
  }

  return {
    async post(url, request) {
      const { signal, timeoutMs } = request
      if (isClosed || signal?.aborted) throw gaveUp()
      const startedAt = performance.now()
      const stop = new AbortController()
      const abort = () => stop.abort(gaveUp())
      underWay.add(abort)
      signal?.addEventListener('abort', abort)
      try {
        const answer = await withTimeout(untilAborted(deliver(url, request, stop.signal), stop.signal), timeoutMs)
        return { ...answer, durationMs: Math.round(performance.now() - startedAt) }
      } catch (error) {
        // After a timeout, closes the connection.
        stop.abort()
        throw error instanceof TimeoutError ? tookTooLong(timeoutMs) : error
      } finally {
        underWay.delete(abort)
        signal?.removeEventListener('abort', abort)
      }
    },

    close() {
      isClosed = true
      for (const abort of underWay) abort()
    },
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  if (signal.aborted) reject(signal.reason)
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return Promise.race([promise, aborted])
}

function gaveUp(): OutboundError {
  return new OutboundError('aborted', 'The request was given up')
}

function tookTooLong(timeoutMs: number): OutboundError {
  return new OutboundError('timeout', `There was no complete answer within ${timeoutMs / 1000} seconds`)
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
