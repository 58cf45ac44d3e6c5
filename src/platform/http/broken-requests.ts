/** What the HTTP parser itself refuses never becomes a request: the answer is written to the socket by hand. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { Log } from '../log/logger.ts'

export function createBrokenRequestHandler({ createRequestId, log }: { createRequestId: () => string; log: Log }) {
  return (error: ConnectionError, socket: Socket): void => {
    // Nothing more can be said on a connection that is gone, or in the middle of another answer.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    const [status, text] = answerTo(error.code)
    const requestId = createRequestId()
    log.info({ requestId, status, address: socket.remoteAddress }, 'broken request')
    const body = JSON.stringify({ error: text })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
}

/** Node keeps the answer that a socket is busy with here, and its own default handler asks the same. */
function isAnswering(socket: Socket): boolean {
  return (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent ?? false
}

function answerTo(code: string): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request headers too large']
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return [413, 'Request body too large']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Request timeout']
  return [400, 'Malformed request']
}
