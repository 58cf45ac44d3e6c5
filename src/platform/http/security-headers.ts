/** Default security and cache headers of every response. Routes may override them. */

export type Hsts = 'off' | 'host' | 'subdomains'

export interface SecurityOptions {
  /** HSTS is sent only if it is https. */
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
    // Cacheable responses override this in their routes.
    'cache-control': 'no-store',
    ...(hsts !== 'off' && publicUrl?.startsWith('https:') && { 'strict-transport-security': hstsValues[hsts] }),
  }
}

/** Additional headers of HTML pages. The opener policy isolates them from windows of other origins. */
export function pageHeaders(contentSecurityPolicy: string): Record<string, string> {
  return { 'content-security-policy': contentSecurityPolicy, 'cross-origin-opener-policy': 'same-origin' }
}
