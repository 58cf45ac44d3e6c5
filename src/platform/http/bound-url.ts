import type { AddressInfo } from 'node:net'

/** Keeps 0.0.0.0, which shows that the server listens on all addresses of the machine. */
export function boundUrl(scheme: 'http' | 'ws', { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
