/** Readers of the change log. */
import { request } from 'node:http'
import type { TestContext } from 'node:test'
import type { ClientResponse } from '../../src/testing/client.ts'
import type { Api } from './api.ts'
import { type OpenStream, readBlocks } from './event-stream.ts'
import { productsPath } from './products.ts'

export const changesPath = `${productsPath}/changes`

export interface ReceivedChange {
  cursor: string
  type: string
  at: string
  version: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into resources of every shape and assert what they find
  data: any
}

export interface ChangesResponse extends Omit<ClientResponse, 'body'> {
  body: { data: ReceivedChange[]; meta: { cursor: string; more: boolean } }
}

export function readChanges(
  api: Pick<Api, 'get'>,
  query: Record<string, string | number> = {},
): Promise<ChangesResponse> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return api.get(`${changesPath}?${search}`)
}

/** To compare what was read twice: each reading has other cursors for the same entries. */
export function withoutCursors<Entry extends { cursor: string }>(entries: readonly Entry[]): Omit<Entry, 'cursor'>[] {
  return entries.map(({ cursor: _, ...rest }) => rest)
}

/** What has been read, as `type name`. */
export function told(changes: readonly ReceivedChange[]): string[] {
  return changes.map(({ type, data }) => `${type.replace('product.', '')} ${data.attributes.name}`)
}

export interface ChangeEvents extends Omit<OpenStream, 'events'> {
  changes: ReceivedChange[]
  /** Of the last event, whether it had data or not. */
  lastId(): string
}

/** Reads the log as server-sent events. */
export async function openChanges(
  t: TestContext,
  url: string,
  { query = '', lastEventId }: { query?: string; lastEventId?: string } = {},
): Promise<ChangeEvents> {
  const sent = request(`${url}${changesPath}${query}`, {
    agent: false,
    headers: { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  })
  sent.end()
  t.after(() => sent.destroy())
  const changes: ReceivedChange[] = []
  let lastId = ''
  const stream = await readBlocks(sent, (block) => {
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) lastId = line.slice(4)
      if (line.startsWith('data: ')) changes.push(JSON.parse(line.slice(6)))
    }
  })
  return { ...stream, changes, lastId: () => lastId }
}
