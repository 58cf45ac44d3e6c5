/** Sends changes as server-sent events, as fast as the client reads. Nothing is buffered for a slow one. */

import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import { unpooledBytes } from '../../../core/unpooled-bytes.ts'
import { untilDrained } from '../../http/until-drained.ts'
import type { ChangeRow } from '../change.ts'
import type { ChangeLog } from '../change-log.ts'
import type { ChangePage } from '../pages.ts'
import type { PresentedChange } from '../topics.ts'
import type { Held, HeldRequests } from './held-requests.ts'

/** What a reader gets of the log, if it is not the same for all. */
export interface ReaderView {
  /** Undefined: entries of all topics matter. */
  topic: string | undefined
  /** What this reader gets of these entries, as of now. */
  show(rows: readonly ChangeRow[]): Promise<readonly ShownChange[]>
}

export interface ShownChange {
  /** Its place in the log. */
  id: number
  change: PresentedChange
  /** Whoever gets it begins anew, so nothing after it is sent. */
  isLast?: boolean
}

export interface ChangeStreamsDeps {
  changes: ChangeLog
  topic: string
  requests: HeldRequests
  /** The JSON text of an entry with this cursor. */
  textOf(row: ChangeRow, cursor: string): string
}

export interface StreamStart {
  after: number
  view: ReaderView | undefined
}

/** Proxies close idle connections, some after 15 seconds. */
const heartbeatMs = 15_000
const entriesPerRead = 100
const maxBytes = 64 * 1024
/** Time for a client to read the rest when the service stops. */
const flushMs = 1000

const comment = ':\n\n'

const streamHeaders = {
  // Its end is that of the connection.
  connection: 'close',
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Disables the response buffering of nginx.
  'x-accel-buffering': 'no',
}

export function createChangeStreams({ changes, topic, requests, textOf }: ChangeStreamsDeps) {
  /** Responses, with what to send if there is nothing else. */
  const open = new Map<ServerResponse, () => string>()
  const encoded = new WeakMap<ChangePage, Buffer>()
  const heartbeats = startPeriodicTask({
    everyMs: heartbeatMs,
    async work() {
      for (const [response, idle] of open) if (!response.writableNeedDrain) response.write(idle())
    },
    onError() {},
  })

  /** Without data it is no event, but tells the client where to go on if the connection is lost before the next. */
  const placeOf = (position: number) => `id: ${changes.cursors.issue(position)}\n\n`

  async function send(request: FastifyRequest, reply: FastifyReply, { after, view }: StreamStart): Promise<void> {
    const held = requests.hold(request, reply)
    const read = view ? view.topic : topic
    const query = { limit: entriesPerRead, maxBytes, ...(read !== undefined && { topic: read }) }
    let first: ChangePage
    try {
      // Before the headers, so that an expired cursor gets its status.
      first = await changes.read({ ...query, after })
    } catch (error) {
      held.release()
      throw error
    }
    reply.hijack()
    request.server.recordRequest(request, reply, 200)
    const { raw } = reply
    // Not in chunks: a page is then one write of the same bytes for all readers.
    raw.removeHeader('transfer-encoding')
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...streamHeaders })
    let position = after
    // The reader of a view may see nothing for long, while the log goes on.
    open.set(raw, view ? () => placeOf(position) : () => comment)
    const onPage = view
      ? async ({ entries }: ChangePage) => {
          const shown = await view.show(entries)
          position = entries.at(-1)?.id ?? position
          if (shown.length > 0) await write(raw, held, unpooledBytes(shown.map(shownEvent).join('')))
          if (shown.at(-1)?.isLast) held.release()
        }
      : (page: ChangePage) => write(raw, held, eventsOf(page))
    try {
      raw.write(placeOf(after))
      if (first.entries.length > 0) await onPage(first)
      await changes.pass({ ...query, after: first.position, signal: held.signal }, onPage)
    } catch (error) {
      // The client reconnects, and gets the status.
      request.log.info({ err: error }, 'a stream of changes was ended')
    } finally {
      open.delete(raw)
      raw.end()
      setTimeout(() => raw.destroy(), flushMs).unref()
    }
  }

  /** Made once for all readers of a page. */
  function eventsOf(page: ChangePage): Buffer {
    let bytes = encoded.get(page)
    if (!bytes) {
      bytes = unpooledBytes(page.entries.map(eventOf).join(''))
      encoded.set(page, bytes)
    }
    return bytes
  }

  function eventOf(row: ChangeRow): string {
    const cursor = changes.cursors.issue(row.id)
    return `id: ${cursor}\ndata: ${textOf(row, cursor)}\n\n`
  }

  function shownEvent({ id, change }: ShownChange): string {
    const cursor = changes.cursors.issue(id)
    return `id: ${cursor}\ndata: ${JSON.stringify({ cursor, ...change })}\n\n`
  }

  return { send, close: heartbeats.close }
}

/** Resolves when the client has read enough to send more, or is gone. Undefined if it has. */
function write(response: ServerResponse, { signal }: Held, bytes: Buffer): Promise<void> | undefined {
  if (signal.aborted) return undefined
  response.write(bytes)
  const drained = untilDrained(response)
  if (!drained) return undefined
  return new Promise<void>((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
    void drained.then(done)
  })
}
