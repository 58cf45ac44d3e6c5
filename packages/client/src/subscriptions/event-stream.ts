/** A subscription as server-sent events, where there are no WebSockets, as in Node 20. */
import { errorOf, isTemporary } from '../errors.ts'
import type { GraphQLResult } from '../graphql.ts'
import { type Connect, ConnectionLost, TokenRefused } from './connection.ts'

/** The service sends something every 12 seconds. */
const maxSilentMs = 40_000

export function createEventStreamConnect(fetch: typeof globalThis.fetch): Connect {
  return async function* connect({ url, token, payload, signal, onOpen }) {
    const silence = new AbortController()
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(payload),
      signal: AbortSignal.any([signal, silence.signal]),
    }).catch(lost)
    if (response.status === 401) throw new TokenRefused()
    if (isTemporary(response.status)) throw new ConnectionLost()
    if (!response.ok || !response.body) throw errorOf(response, await response.json().catch(() => undefined))
    onOpen()
    for await (const { event, data } of readEvents(response.body, silence)) {
      if (event === 'complete') return
      if (event === 'next') yield JSON.parse(data) as GraphQLResult
    }
    throw new ConnectionLost()
  }
}

function lost(): never {
  throw new ConnectionLost()
}

interface ServerEvent {
  event: string
  data: string
}

async function* readEvents(body: ReadableStream<Uint8Array>, silence: AbortController): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(), maxSilentMs)
      const { done, value } = await reader
        .read()
        .catch(lost)
        .finally(() => clearTimeout(timer))
      if (done) return
      const blocks = (text + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) yield parseEvent(block)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function parseEvent(block: string): ServerEvent {
  const found = { event: '', data: '' }
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) found.event = line.slice('event:'.length).trim()
    else if (line.startsWith('data:')) found.data += line.slice('data:'.length).trimStart()
  }
  return found
}
