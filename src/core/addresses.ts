/** IP addresses as they are written in headers and in the configuration. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** `203.0.113.7`, `203.0.113.7:5555`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:5555` */
export function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

/** Drops the zone, and unmaps IPv4-mapped IPv6 addresses. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // ipaddr.js also accepts 127.1, 0x7f.0.0.1 and 0177.0.0.1, which other programs read as different addresses.
  if (isIP(text) === 0) return undefined
  const [address = ''] = text.split('%', 1)
  return ipaddr.process(address)
}

/** An address, or a range such as 10.0.0.0/8. A /0 is refused: it would match everybody. */
export function isAddressRange(text: string): boolean {
  const range = text.includes('/') ? text : `${text}/32`
  if (!(ipaddr.IPv4.isValidCIDRFourPartDecimal(range) || ipaddr.IPv6.isValidCIDR(range))) return false
  const [, bits] = ipaddr.parseCIDR(range)
  return bits > 0
}
