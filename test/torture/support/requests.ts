/** HTTP requests of a load. Unlike `fetch`, they tell an answer of the service from one of a proxy. */
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'

export interface Answer {
  status: number
  /** The proxy's own answers have no request id. */
  isFromService: boolean
  headers: IncomingHttpHeaders
  /** Parsed JSON, or text. */
  // biome-ignore lint/suspicious/noExplicitAny: a load looks into answers of every shape
  body: any
}

export interface CallOptions {
  path: string
  /** GET, or POST if there is a body. */
  method?: string
  body?: object
  token?: string
  headers?: Record<string, string>
}

const timeoutMs = 30_000

/** Rejects if there is no complete answer. */
export function send(agent: Agent, url: string, options: CallOptions): Promise<Answer> {
  const { path, body, token, method = body ? 'POST' : 'GET' } = options
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body)
    const headers = {
      ...options.headers,
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const request = httpRequest(url + path, { agent, method, headers }, (response) => {
      let received = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        received += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const isFromService = response.headers['x-request-id'] !== undefined
        const isJson = response.headers['content-type']?.includes('json')
        resolve({
          status: response.statusCode ?? 0,
          isFromService,
          headers: response.headers,
          body: isJson ? JSON.parse(received) : received,
        })
      })
    })
    request.on('error', reject)
    request.setTimeout(timeoutMs, () => request.destroy(new Error('no answer within 30 seconds')))
    request.end(text)
  })
}
