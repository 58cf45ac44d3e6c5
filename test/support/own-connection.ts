/** Requests that share no connection, so that the kernel gives each to any of the serving threads. */
import { request } from 'node:http'

export interface OwnConnectionOptions {
  method?: string
  json?: object
  token?: string
  headers?: Record<string, string>
}

export function send(url: string, options: OwnConnectionOptions = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const headers = {
      ...options.headers,
      ...(options.json && { 'content-type': 'application/json' }),
      ...(options.token && { authorization: `Bearer ${options.token}` }),
    }
    const sent = request(url, { method: options.method ?? 'GET', agent: false, headers }, async (response) => {
      let body = ''
      for await (const part of response) body += part
      resolve({ status: response.statusCode ?? 0, body })
    })
    sent.once('error', reject)
    sent.end(options.json && JSON.stringify(options.json))
  })
}
