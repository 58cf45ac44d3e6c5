/** Errors of the HTTP parser have no request and no ServerResponse: the response is written to the socket by hand. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { AppError } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import type { HeadersFor } from './cors.ts'
import { httpErrors } from './http-errors.ts'
import { STATUS_CODES } from './node-http.ts'
import { pathOf, recordedPathOf } from './request-path.ts'

export interface ParserErrorOptions {
  createRequestId(): string
  log: Log
  /** The headers of every response. */
  headersFor?: HeadersFor
  /** Formats the error body for a path; `{"error"}` by default. */
  bodyOf?(error: AppError, path: string | undefined): object
  /** Called with the status of each response. */
  observe?(status: number): void
}

/** A request whose headers may be incomplete. */
interface PartialRequest {
  method: string | undefined
  url: string | undefined
  origin: string | undefined
}

/** The method and the path, which is cut at the limit of request headers. A long query may end in another packet. */
const startOfRequest = /^([A-Z]{1,20}) (\/[\x21-\x3e\x40-\x7e]{0,16383})/

export function createParserErrorHandler(options: ParserErrorOptions) {
  const { createRequestId, log, headersFor, bodyOf = plainBody, observe } = options
  return (error: ConnectionError, socket: Socket): void => {
    // The connection is closed, or in the middle of another response.
    if (error.code === 'ECONNRESET' || !socket.writable || isResponding(socket)) {
      socket.destroy()
      return
    }
    const refusal = refusalFor(error.code)
    const { status } = refusal
    const partial = readPartialRequest(error, socket)
    const path = partial.url === undefined ? undefined : pathOf(partial.url)
    const requestId = createRequestId()
    observe?.(status)
    const recorded = partial.url === undefined ? undefined : recordedPathOf(partial.url)
    log.info(
      { requestId, method: partial.method, path: recorded, status, ms: 0, address: socket.remoteAddress },
      'request',
    )
    const body = JSON.stringify(bodyOf(refusal, path))
    const headers = {
      ...headersFor?.(partial.url, partial.origin),
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

interface PendingResponse {
  headersSent: boolean
  req: IncomingMessage
}

/** The response that Node is writing to the socket; its default clientError handler reads the same property. */
function pendingResponseOf(socket: Socket): PendingResponse | undefined {
  return (socket as { _httpMessage?: PendingResponse | null })._httpMessage ?? undefined
}

function isResponding(socket: Socket): boolean {
  return pendingResponseOf(socket)?.headersSent ?? false
}

/** From the request, if its body is malformed; otherwise from the packet, if the headers start in it. */
function readPartialRequest(error: ConnectionError, socket: Socket): PartialRequest {
  const request = pendingResponseOf(socket)?.req
  if (request) return { method: request.method, url: request.url, origin: request.headers.origin }
  // Fastify declares the type of its JSON form.
  const packet = error.rawPacket as unknown as Buffer | undefined
  const head = packet?.toString('latin1') ?? ''
  const [, method, url] = startOfRequest.exec(head) ?? []
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

function refusalFor(code: string): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpErrors.headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return httpErrors.bodyTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpErrors.requestTimeout()
  return httpErrors.malformedRequest()
}
