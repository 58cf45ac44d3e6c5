/** Headers of every answer: what a browser or a cache must not do with it. A route that wants other ones sets its own. */

export type Hsts = 'off' | 'host' | 'subdomains'

export interface SecurityOptions {
  /** Where people reach the service. Only over https may browsers remember to use nothing else. */
  publicUrl: string | undefined
  hsts: Hsts
}

const hstsValues: Readonly<Record<Exclude<Hsts, 'off'>, string>> = {
  host: 'max-age=31536000',
  subdomains: 'max-age=31536000; includeSubDomains',
}

export function securityHeaders({ publicUrl, hsts }: SecurityOptions): Record<string, string> {
  return {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // Nothing is kept by a cache unless its route says that it may be.
    'cache-control': 'no-store',
    ...(hsts !== 'off' && publicUrl?.startsWith('https:') && { 'strict-transport-security': hstsValues[hsts] }),
  }
}

/** What a page in HTML needs beside: its own policy, and no window of another origin that holds a reference to it. */
export function pageHeaders(contentSecurityPolicy: string): Record<string, string> {
  return { 'content-security-policy': contentSecurityPolicy, 'cross-origin-opener-policy': 'same-origin' }
}
