/** Which addresses requests may connect to. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An address that anybody on the internet can reach: global unicast, and nothing that is carried inside of it. */
export function isPublicAddress(text: string): boolean {
  return kindOf(text) === 'public'
}

/** With `allowPrivate`, loopback and private networks too; link-local, metadata and special addresses never. */
export function canConnectTo(text: string, { allowPrivate }: { allowPrivate: boolean }): boolean {
  const kind = kindOf(text)
  return kind === 'public' || (kind === 'private' && allowPrivate)
}

function kindOf(text: string): 'public' | 'private' | 'special' {
  // ipaddr.js also accepts 127.1 and 0177.0.0.1. A zone, as in fe80::1%eth0, names a network of this machine.
  if (isIP(text) === 0 || text.includes('%')) return 'special'
  const address = ipaddr.parse(text)
  if (hostServices.has(address.toString())) return 'special'
  const range = address.range()
  if (privateRanges.has(range)) return 'private'
  if (range !== 'unicast') return 'special'
  return address instanceof ipaddr.IPv4 || isGlobal(address) ? 'public' : 'special'
}

const privateRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal'])

/** Services of cloud hosts for their guests, such as metadata with credentials, that are not link-local. */
const hostServices: ReadonlySet<string> = new Set([
  // Azure; in a range that is otherwise public.
  '168.63.129.16',
  // Alibaba Cloud
  '100.100.100.200',
  // AWS
  'fd00:ec2::254',
  // Google Cloud
  'fd20:ce::254',
])

/**
 * 2000::/3 is all that has been assigned as global unicast (RFC 4291, section 2.4). ipaddr.js calls everything unicast
 * that it does not know, such as the IPv4-compatible ::10.0.0.1.
 */
function isGlobal({ parts }: ipaddr.IPv6): boolean {
  const [first = 0, , , , universal = 0, isatap = 0] = parts
  // ISATAP (RFC 5214, section 6.1) carries an IPv4 address in the last four bytes.
  const isIsatap = isatap === 0x5efe && (universal & ~0x0200) === 0
  return (first & 0xe000) === 0x2000 && !isIsatap
}
