import type { IncomingMessage } from 'node:http'

/** Other upgrades, such as to HTTP/2, are ignored, and the request is handled as usual. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}
