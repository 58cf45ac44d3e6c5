/**
 * The rules for URLs that need no name server. They tell people early; the guard is the check of the resolved
 * addresses in outbound.ts.
 */
import { isIP } from 'node:net'
import { canConnectTo } from './public-address.ts'

export interface RefuseUrlOptions {
  allowPrivate: boolean
}

const maxLength = 2000
const onlyPublic = 'Must be an address on the public internet'

/** Why this URL cannot be used, as a sentence for the person who typed it; undefined if it can. */
export function refuseUrl(text: string, options: RefuseUrlOptions): string | undefined {
  if (text.length > maxLength) return 'Must not be longer than 2,000 characters'
  const { allowPrivate } = options
  const start = /^https?:\/\//i.exec(text)?.[0].toLowerCase()
  if (start === undefined || (start === 'http://' && !allowPrivate)) {
    return allowPrivate ? 'Must start with https:// or http://' : 'Must start with https://'
  }
  // The parser would remove tabs and line breaks, and read a backslash as a slash.
  if (!text.isWellFormed() || /[\s\p{Cc}\\]/u.test(text)) {
    return 'Must not contain blanks, control characters or backslashes'
  }
  if (text.includes('#')) return 'Must not have a fragment (#)'
  const authority = text.slice(start.length).split(/[/?]/, 1)[0] as string
  if (authority.includes('@')) return 'Must not contain a user name or password'
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The parser would look for the host behind further slashes.
  if (url === undefined || authority === '' || authority.includes('%')) return 'Must be a valid URL'
  return refusePort(url) ?? refuseHost({ url, authority, options })
}

/** The host as node:net and node:dns want it: an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** Below 1024 are other protocols, such as mail, whose servers must not be sent requests. */
function refusePort({ port }: URL): string | undefined {
  const isUsual = port === '' || port === '80' || port === '443' || Number(port) >= 1024
  return isUsual ? undefined : 'Must have the port 80, 443, or one above 1023'
}

interface Host {
  url: URL
  /** Host and port as they were typed. */
  authority: string
  options: RefuseUrlOptions
}

function refuseHost({ url, authority, options }: Host): string | undefined {
  const host = hostOf(url)
  if (isIP(host)) {
    // The parser reads 2130706433, 0x7f.1 and 0177.0.0.1 as 127.0.0.1; other programs read other addresses.
    if (isIP(host) === 4 && authority.split(':', 1)[0] !== host) return 'Must have an address of four decimal numbers'
    if (canConnectTo(host, options)) return undefined
    return options.allowPrivate ? 'Must not be a link-local or other special address' : onlyPublic
  }
  if (host.endsWith('.')) return 'Must not have a dot at the end of the host name'
  // Such as full-width letters, which the parser turns into others. In names of other scripts, xn-- is left.
  if (/[^\x21-\x7e]/.test(authority) && !host.includes('xn--')) return 'Must have a host name in its usual spelling'
  if (options.allowPrivate) return undefined
  const isInside = !host.includes('.') || insideDomains.some((domain) => `.${host}`.endsWith(`.${domain}`))
  return isInside ? onlyPublic : undefined
}

/** Names that are not on the internet (RFC 6761, 6762, 8375; .internal is reserved by ICANN), and usual ones of routers. */
const insideDomains = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
]
