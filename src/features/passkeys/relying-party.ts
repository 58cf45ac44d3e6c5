/** The relying party of WebAuthn: the host that passkeys belong to, and the origins that may use them. */
import { isIP } from 'node:net'

export interface RelyingParty {
  /** A host name. Browsers let only pages of this host use its passkeys. */
  id: string
  /** Shown by authenticators. */
  name: string
  isOwnOrigin(origin: string): boolean
}

export interface RelyingPartyOptions {
  publicUrl: string | undefined
  isDevelopment: boolean
  name: string
}

/** Undefined in production without a public URL, or with one whose host is an address: then there are no passkeys. */
export function createRelyingParty({ publicUrl, isDevelopment, name }: RelyingPartyOptions): RelyingParty | undefined {
  if (publicUrl === undefined) return isDevelopment ? { id: 'localhost', name, isOwnOrigin: isLocalhost } : undefined
  const { hostname, origin } = new URL(publicUrl)
  // WebAuthn does not allow addresses as relying party ids.
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return undefined
  return { id: hostname, name, isOwnOrigin: (given) => given === origin }
}

/** On any port, because the development server of a client application has another one. */
function isLocalhost(origin: string): boolean {
  return /^https?:\/\/localhost(?::\d{1,5})?$/.test(origin)
}
