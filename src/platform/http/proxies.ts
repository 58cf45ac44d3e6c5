/** Trusted proxies and X-Forwarded-For. */
import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import { parseAddress, withoutPort } from '../../core/addresses.ts'
import type { ProcessParts } from '../threads/process-parts.ts'
import { cleanAddress } from './client.ts'

/** Enough for an IPv6 address with zone, brackets and port. */
const maxHopLength = 80

export type IsTrusted = (address: string | undefined) => boolean

export function createProxyTrust(ranges: readonly string[]): IsTrusted {
  if (ranges.length === 0) return () => false
  const isTrusted = proxyAddress.compile([...ranges])
  return (address) => address !== undefined && isTrusted(address, 0)
}

/** Returns the same address as Fastify, for requests that bypass it. */
export function createAddressReader(isTrusted: IsTrusted): (request: IncomingMessage) => string {
  const cleanForwardedFor = createForwardedCleaner(isTrusted)
  return (request) => {
    cleanForwardedFor(request)
    return cleanAddress(proxyAddress.all(request, isTrusted).at(-1))
  }
}

/**
 * Leaves only addresses in a trusted peer's X-Forwarded-For, without the ports that some proxies add. An entry that is
 * not an address, such as `unknown`, hides the client: the proxy that wrote it counts as the client, because the
 * entries before it may be forged.
 */
export function createForwardedCleaner(isTrusted: IsTrusted): (request: IncomingMessage) => void {
  return ({ headers, socket }) => {
    const given = headers['x-forwarded-for']
    if (given === undefined || !isTrusted(socket.remoteAddress)) return
    const hops = String(given).split(',').map(addressOfHop)
    const kept = hops.slice(hops.lastIndexOf(undefined) + 1)
    if (kept.length > 0) headers['x-forwarded-for'] = kept.join(', ')
    else delete headers['x-forwarded-for']
  }
}

function addressOfHop(given: string): string | undefined {
  const hop = given.trim()
  if (hop.length > maxHopLength) return undefined
  const address = withoutPort(hop)
  return parseAddress(address) && address
}

/** Warns once per process that forwarding headers are ignored, which is hard to notice behind a proxy. */
export function createProxyWarning(
  isTrusted: IsTrusted,
  claimOnce: ProcessParts['claimOnce'],
): (request: FastifyRequest) => void {
  let hasWarned = false
  return (request) => {
    if (hasWarned || !isForwarded(request.headers) || isTrusted(request.socket.remoteAddress)) return
    hasWarned = true
    if (!claimOnce('untrusted-proxy')) return
    request.log.warn(
      { peer: request.socket.remoteAddress },
      'X-Forwarded-* headers of an untrusted peer are ignored; if it is your proxy, name it in server.trusted_proxies',
    )
  }
}

export function isForwarded(headers: Readonly<Record<string, unknown>>): boolean {
  return (
    headers['x-forwarded-for'] !== undefined ||
    headers['x-forwarded-proto'] !== undefined ||
    headers['x-forwarded-host'] !== undefined ||
    headers.forwarded !== undefined
  )
}
