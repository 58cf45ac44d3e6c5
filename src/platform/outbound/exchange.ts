/** One request over a connection to addresses that were checked, and the beginning of its answer. */
import type { Agent, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { request as httpRequest } from '../http/node-http.ts'
import { OutboundError } from './outbound-error.ts'
import { hostOf } from './refuse-url.ts'

export interface ExchangeOptions {
  url: URL
  /** Has an open connection, or makes one. */
  agent: Agent
  /** The only ones that are connected to, one after the other until one accepts. None: only an open connection is used. */
  addresses: readonly string[]
  headers: Record<string, string>
  body: string
  /** Closes the connection. The exchange then rejects with any error. */
  signal: AbortSignal
  ca: string | undefined
}

export interface Answer {
  status: number
  body: string
  address: string
}

const maxBodyBytes = 65_536
const maxBodyCharacters = 1000
const maxHeaderBytes = 16_384
const maxInterimAnswers = 10

/** Servers close connections that are idle, possibly while the next request is on its way. It has to be sent again. */
export class StaleConnectionError extends Error {}

export async function exchange(options: ExchangeOptions): Promise<Answer> {
  const { promise: answered, resolve, reject } = Promise.withResolvers<{ response: IncomingMessage; address: string }>()
  const sent = open(options)
  let isHandshake = false
  sent.once('socket', (socket) => {
    if (!socket.connecting) return
    socket.once('connect', () => {
      isHandshake = options.url.protocol === 'https:'
    })
    socket.once('secureConnect', () => {
      isHandshake = false
    })
  })
  let isAnswered = false
  const fail = (code?: string) => {
    if (isAnswered) return
    reject(options.addresses.length === 0 ? new StaleConnectionError() : failure(code, isHandshake))
  }
  sent.on('error', (error: NodeJS.ErrnoException) => fail(error.code))
  // Without an error if the answer is 101, which was not asked for.
  sent.on('close', () => fail())
  let interim = 0
  sent.on('information', () => {
    interim += 1
    if (interim > maxInterimAnswers) sent.destroy()
  })
  sent.on('response', (response) => {
    isAnswered = true
    // At its end it has no socket any more.
    resolve({ response, address: response.socket.remoteAddress ?? '' })
  })
  sent.end(options.body)
  try {
    const { response, address } = await answered
    const body = await readBody(response)
    return { status: response.statusCode as number, body, address }
  } finally {
    // Does nothing to a connection that the agent keeps.
    sent.destroy()
  }
}

function open({ url, agent, addresses, headers, body, signal, ca }: ExchangeOptions) {
  const host = hostOf(url)
  const isTls = url.protocol === 'https:'
  const request = isTls ? httpsRequest : httpRequest
  return request({
    method: 'POST',
    agent,
    host,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
    lookup: answerWith(addresses),
    maxHeaderSize: maxHeaderBytes,
    insecureHTTPParser: false,
    signal,
    ...(isTls && {
      // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not apply.
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2' as const,
      servername: isIP(host) ? '' : host,
      ...(ca !== undefined && { ca }),
    }),
  })
}

/** In place of a name server: the connection goes to what was checked, whatever a server would answer by now. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, callback) => {
    const [first] = found
    if (!first) process.nextTick(callback, new Error('no address was checked'), '', 0)
    else if (options.all) process.nextTick(callback, null, found)
    else process.nextTick(callback, null, first.address, first.family)
  }
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= maxBodyBytes) break
    }
  } catch {
    throw failure(undefined, false)
  }
  // Whole characters only, and none that a terminal or PostgreSQL (NUL) would stumble over.
  const text = Buffer.concat(chunks).toString('utf8').slice(0, maxBodyCharacters)
  return text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, '\u{FFFD}')
}

function failure(code = '', isHandshake: boolean): OutboundError {
  if (isHandshake && code !== 'ECONNRESET') {
    return new OutboundError('tls', certificateProblems[code] ?? 'No secure connection could be made')
  }
  return new OutboundError('connection', connectionProblems[code] ?? parserProblem(code) ?? closedEarly)
}

const untrusted = 'The certificate is not from a trusted authority'
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
}

const closedEarly = 'The connection was closed before the answer was complete'
const unreachable = 'The host cannot be reached'
const connectionProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  HPE_HEADER_OVERFLOW: 'The headers of the answer are too large',
}

function parserProblem(code: string): string | undefined {
  return code.startsWith('HPE_') ? 'The answer is not valid HTTP' : undefined
}
