/** A small keep-alive client that measures the duration of its requests. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { firstInLine } from './priority.ts'

export interface Timed {
  status: number
  headers: IncomingHttpHeaders
  body: string
  ms: number
}

export interface SendOptions {
  json?: object
  token?: string
  /** What makes a device known. */
  deviceToken?: string | undefined
  cookie?: string
  /** Reads no more than about so much of the answer, such as of a long file. */
  enoughBytes?: number
}

export type Send = (method: string, path: string, options?: SendOptions) => Promise<Timed>

export interface ClientOptions {
  connections: number
  /** The client address that the service sees. */
  localAddress?: string
}

export function createClient(
  base: string,
  { connections, localAddress }: ClientOptions,
): { send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ...(localAddress && { localAddress }) })
  const send: Send = (method, path, { json, token, deviceToken, cookie, enoughBytes = Infinity } = {}) =>
    new Promise((resolve, reject) => {
      const start = performance.now()
      const body = json && JSON.stringify(json)
      const headers = {
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(deviceToken !== undefined && { 'x-device-token': deviceToken }),
        ...(cookie !== undefined && { cookie }),
      }
      const sent = request(new URL(path, base), { method, agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        const done = () => {
          const { statusCode: status = 0, headers } = response
          resolve({ status, headers, body: text, ms: performance.now() - start })
        }
        response.on('data', (chunk) => {
          text += chunk
          if (text.length < enoughBytes) return
          done()
          response.destroy()
        })
        response.on('end', done)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return { send, close: () => agent.destroy() }
}

export function percentile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Durations of reads sent at a fixed rate, without waiting for earlier ones: a slow service does not reduce the load. */
export function steadyReads(send: Send, path: string, options: SteadyReads): Promise<number[]> {
  return firstInLine(() => readSteadily(send, path, options))
}

export interface SteadyReads {
  token?: string
  perSecond: number
  seconds: number
}

async function readSteadily(send: Send, path: string, { token, perSecond, seconds }: SteadyReads): Promise<number[]> {
  const start = performance.now()
  const times: Promise<number>[] = []
  for (let i = 0; i < seconds * perSecond; i++) {
    const due = start + (i * 1000) / perSecond
    const wait = due - performance.now()
    if (wait > 1) await sleep(wait)
    times.push(
      send('GET', path, token === undefined ? {} : { token }).then(({ status, ms }) => {
        if (status !== 200) throw new Error(`a read returned ${status}`)
        return ms
      }),
    )
  }
  return Promise.all(times)
}
