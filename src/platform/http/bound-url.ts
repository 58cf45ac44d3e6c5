import type { AddressInfo } from 'node:net'

/** The address that a server is bound to, as it is: 0.0.0.0 tells that every address of the machine leads to it. */
export function boundUrl(scheme: 'http' | 'ws', { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
