/** What the HTTP parser itself refuses never becomes a request: the answer is written to the socket by hand. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { AppError } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import type { HeadersFor } from './cors.ts'
import { httpErrors } from './http-errors.ts'
import { pathOf } from './request-path.ts'

export interface ParserErrorOptions {
  createRequestId(): string
  log: Log
  /** The headers that every answer carries. */
  headersFor?: HeadersFor
  /** The body of an error at a path; of the usual form by default. */
  bodyOf?(error: AppError, path: string | undefined): object
  /** Called with the status of each answer. */
  observe?(status: number): void
}

/** What is known of a request whose head may not have been read to its end. */
interface Fragment {
  method: string | undefined
  url: string | undefined
  origin: string | undefined
}

/** As much of a packet as a head may be long. */
const maxHeadBytes = 16 * 1024

export function createParserErrorHandler(options: ParserErrorOptions) {
  const { createRequestId, log, headersFor, bodyOf = plainBody, observe } = options
  return (error: ConnectionError, socket: Socket): void => {
    // Nothing more can be said on a connection that is gone, or in the middle of another answer.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    const answer = answerTo(error.code)
    const { status } = answer
    const asked = findFragment(error, socket)
    const path = asked.url === undefined ? undefined : pathOf(asked.url)
    const requestId = createRequestId()
    observe?.(status)
    log.info({ requestId, method: asked.method, path, status, ms: 0, address: socket.remoteAddress }, 'request')
    const body = JSON.stringify(bodyOf(answer, path))
    const headers = {
      ...headersFor?.(asked.url, asked.origin),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'x-request-id': requestId,
      connection: 'close',
    }
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
}

interface Answering {
  headersSent: boolean
  req: IncomingMessage
}

/** Node keeps the answer that a socket is busy with here, and its own default handler asks the same. */
function answeringOf(socket: Socket): Answering | undefined {
  return (socket as { _httpMessage?: Answering | null })._httpMessage ?? undefined
}

function isAnswering(socket: Socket): boolean {
  return answeringOf(socket)?.headersSent ?? false
}

/** From the request, where it is the body that is broken; else from the packet, where the head began in it. */
function findFragment(error: ConnectionError, socket: Socket): Fragment {
  const request = answeringOf(socket)?.req
  if (request) return { method: request.method, url: request.url, origin: request.headers.origin }
  // Declared as what it looks like in JSON.
  const packet = error.rawPacket as unknown as Buffer | undefined
  const head = packet?.toString('latin1', 0, maxHeadBytes) ?? ''
  const [, method, url] = /^([A-Z]{1,20}) (\/[\x21-\x7e]*) HTTP\/1\.[01]\r\n/.exec(head) ?? []
  return { method, url, origin: findOrigin(head) }
}

function findOrigin(head: string): string | undefined {
  const name = '\r\norigin:'
  const start = head.toLowerCase().indexOf(name)
  const end = head.indexOf('\r\n', start + name.length)
  return start === -1 || end === -1 ? undefined : head.slice(start + name.length, end).trim()
}

function plainBody({ message }: AppError): object {
  return { error: message }
}

function answerTo(code: string): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpErrors.headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return httpErrors.bodyTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpErrors.requestTimeout()
  return httpErrors.malformedRequest()
}
