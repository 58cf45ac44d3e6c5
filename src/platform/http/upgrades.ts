import type { IncomingMessage } from 'node:http'

/** Other upgrades, such as to HTTP/2, are answered as if they had not been asked for. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}
