import type { AddressInfo } from 'node:net'

/**
 * Keeps 0.0.0.0, which shows that the server listens on all addresses of the machine. Leaves out the zone of fe80::1%eth0,
 * which URLs cannot have.
 */
export function boundUrl(scheme: 'http' | 'ws', { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address.split('%')[0]}]` : address}:${port}`
}

/** 0.0.0.0 and :: stand for all addresses of the machine, and are none to open in a browser. */
export function reachableUrl(bound: string): string {
  const url = new URL(bound)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = 'localhost'
  return url.origin
}

/** Where a browser reaches a service that is configured to listen there. */
export function configuredUrl({ host, port }: { host: string; port: number }): string {
  return reachableUrl(boundUrl('http', { address: host, family: host.includes(':') ? 'IPv6' : 'IPv4', port }))
}
