/** Reads an event stream like a browser's EventSource. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { TestContext } from 'node:test'

export interface StreamedEvent {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape and assert what they find
  data: any
}

export interface OpenStream {
  response: IncomingMessage
  events: StreamedEvent[]
  /** The number of comments so far. */
  comments(): number
  /** Resolves when the connection has ended. */
  ended: Promise<void>
  close(): void
}

export interface StreamOptions {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  token?: string | undefined
  variables?: Record<string, unknown>
}

export async function openStream(
  t: TestContext,
  url: string,
  query: string,
  { method = 'POST', headers = {}, token, variables }: StreamOptions = {},
): Promise<OpenStream> {
  const search = new URLSearchParams({ query, ...(variables && { variables: JSON.stringify(variables) }) })
  const sent = request(`${url}/graphql${method === 'GET' ? `?${search}` : ''}`, {
    method,
    agent: false,
    headers: {
      accept: 'text/event-stream',
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  })
  sent.end(method === 'POST' ? JSON.stringify({ query, variables }) : undefined)
  t.after(() => sent.destroy())
  return read(sent)
}

async function read(sent: ClientRequest): Promise<OpenStream> {
  const events: StreamedEvent[] = []
  return { ...(await readBlocks(sent, (block) => void events.push(parse(block)))), events }
}

/** Calls back with the text of each event. */
export async function readBlocks(
  sent: ClientRequest,
  onBlock: (block: string) => void,
): Promise<Omit<OpenStream, 'events'>> {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  )
  let comments = 0
  let rest = ''
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.startsWith(':')) comments += 1
      else onBlock(block)
    }
  })
  response.on('error', () => {})
  const ended = new Promise<void>((resolve) => response.once('close', resolve))
  return { response, comments: () => comments, ended, close: () => sent.destroy() }
}

function parse(block: string): StreamedEvent {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => {
      const [name = '', ...value] = line.split(': ')
      return [name, value.join(': ')]
    }),
  )
  return { event: fields.event ?? 'message', data: fields.data ? JSON.parse(fields.data) : undefined }
}
