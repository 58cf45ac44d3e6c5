/** Which peers may speak for a client's address. */

import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import { cleanAddress } from './client.ts'

export type IsTrusted = (address: string | undefined) => boolean

export function createProxyTrust(ranges: readonly string[]): IsTrusted {
  if (ranges.length === 0) return () => false
  const isTrusted = proxyAddress.compile([...ranges])
  return (address) => address !== undefined && isTrusted(address, 0)
}

/** For requests that the framework does not see: the same address that it would tell. */
export function createAddressReader(isTrusted: IsTrusted): (request: IncomingMessage) => string {
  return (request) => cleanAddress(proxyAddress.all(request, isTrusted).at(-1))
}

/** Says once that forwarding headers are ignored: somebody behind a proxy would otherwise wonder for long. */
export function createProxyWarning(isTrusted: IsTrusted): (request: FastifyRequest) => void {
  let hasWarned = false
  return (request) => {
    if (hasWarned || !isForwarded(request.headers) || isTrusted(request.socket.remoteAddress)) return
    hasWarned = true
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
