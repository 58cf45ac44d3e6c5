import type { IncomingMessage } from 'node:http'

/**
 * RFC 9112, 3.2: HTTP/1.1 requires exactly one Host header; HTTP/1.0, which health checks of load balancers use, may
 * omit it. Counts raw headers, because Node keeps only the first of several.
 */
export function hasValidHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0)
}
