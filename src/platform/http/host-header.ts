import type { IncomingMessage } from 'node:http'

/**
 * RFC 9112, 3.2: HTTP/1.1 has exactly one Host header; HTTP/1.0, which the health checks of load balancers speak, need
 * not have one. Node keeps the first of several and drops the others, so the list as it was sent is counted.
 */
export function hasValidHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0)
}
