/** The changes of a topic over HTTP: in pages, waiting for more if asked to, and as server-sent events. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { unpooledBytes } from '../../../core/unpooled-bytes.ts'
import { createNegotiation } from '../../graphql/http/media-types.ts'
import { type ListPart, type ListReading, sendList } from '../../http/long-lists.ts'
import { addVary } from '../../http/vary.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { ChangeRow } from '../change.ts'
import type { ChangeLog } from '../change-log.ts'
import { createChangeStreams, type ReaderView, type ShownChange } from './change-stream.ts'
import { readChangesQuery, readStreamStart } from './changes-query.ts'
import { createHeldRequests } from './held-requests.ts'

export interface ChangesHandlerDeps {
  changes: ChangeLog
  topic: string
  /** Undefined for readers who get what all get. */
  viewOf?(request: FastifyRequest): ReaderView | undefined
  /** Limits streams and requests that wait. */
  perAddress: ConnectionsPerAddress
}

interface AnsweredPage<Entry> {
  entries: readonly Entry[]
  more: boolean
  /** Where the reader goes on. */
  end: number
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The approximate bytes of an entry without its data. */
const lengthOfRest = 300
const rowsPerPart = 32
/** For a view, whatever the limit: most entries may be of others. */
const entriesPerView = 200
/** Of which a reader sees nothing, until they are asked to go on themselves. */
const maxPages = 20

export function createChangesHandler(
  app: FastifyInstance,
  { changes, topic, viewOf, perAddress }: ChangesHandlerDeps,
): Handler {
  const negotiate = createNegotiation()
  const requests = createHeldRequests(app, perAddress)
  const texts = new WeakMap<ChangeRow, string>()
  const streams = createChangeStreams({ changes, topic, requests, textOf })
  app.addHook('onClose', () => streams.close())

  /** All but the cursor is made once for all readers of an entry. */
  function textOf(row: ChangeRow, cursor: string): string {
    let text = texts.get(row)
    if (text === undefined) {
      text = JSON.stringify(changes.topics.present(row)).slice(1)
      texts.set(row, text)
    }
    return `{"cursor":"${cursor}",${text}`
  }

  const latest = (view: ReaderView | undefined) =>
    view && view.topic === undefined ? changes.latest() : changes.latestOf(topic)
  const issue = ({ id }: Pick<ChangeRow, 'id'>) => changes.cursors.issue(id)

  async function readPage(request: FastifyRequest, reply: FastifyReply): Promise<AnsweredPage<ChangeRow>> {
    const { after: given, limit, waitSeconds } = readChangesQuery(request, changes.cursors)
    const after = given ?? (await latest(undefined))
    let page = await changes.read({ limit, topic, after })
    if (waitSeconds > 0 && page.entries.length === 0) {
      await hold(request, reply, waitSeconds, async (signal) => {
        // Entries of other topics are no reason to answer.
        while (page.entries.length === 0 && !signal.aborted) {
          await changes.wait(page.position, signal)
          page = await changes.read({ limit, topic, after: page.position })
        }
      })
    }
    const { entries, more } = page
    return { entries, more, end: entries.at(-1)?.id ?? after }
  }

  async function readView(
    view: ReaderView,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<AnsweredPage<ShownChange>> {
    const { after: given, limit, waitSeconds } = readChangesQuery(request, changes.cursors)
    const query = { limit: entriesPerView, ...(view.topic !== undefined && { topic: view.topic }) }
    let end = given ?? (await latest(view))
    let position = end
    let more = true
    let shown: readonly ShownChange[] = []
    const isEmpty = () => shown.length === 0
    const readOn = async () => {
      const page = await changes.read({ ...query, after: position })
      const all = await view.show(page.entries)
      shown = all.slice(0, limit)
      const last = shown.at(-1)
      const isCut = last !== undefined && (shown.length < all.length || last.isLast === true)
      position = page.position
      // Of a topic, the position may be an entry of another one.
      end = (isCut ? last.id : query.topic === undefined ? position : page.entries.at(-1)?.id) ?? end
      more = page.more || (isCut && last.id !== page.entries.at(-1)?.id)
    }
    for (let pages = 0; isEmpty() && more && pages < maxPages; pages++) await readOn()
    if (waitSeconds > 0 && isEmpty()) {
      await hold(request, reply, waitSeconds, async (signal) => {
        while (isEmpty() && !signal.aborted) {
          await changes.wait(position, signal)
          await readOn()
        }
      })
    }
    return { entries: shown, more, end }
  }

  async function hold(
    request: FastifyRequest,
    reply: FastifyReply,
    seconds: number,
    wait: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (request.method === 'HEAD') return
    const held = requests.hold(request, reply)
    const heldAt = performance.now()
    held.endAfter(seconds * 1000)
    await wait(held.signal)
    held.release()
    // Waiting is no slowness, which the metrics would show.
    request.startedAt += performance.now() - heldAt
  }

  /** If memory is short, entries are read again while they are sent. */
  async function* parts(entries: readonly ChangeRow[], { held, schedule }: ListReading<ChangeRow>) {
    const ids = entries.map(({ id }) => id)
    for (let start = 0; start < ids.length; start += rowsPerPart) {
      const some = ids.slice(start, start + rowsPerPart)
      const rows = held()?.slice(start, start + rowsPerPart) ?? (await schedule(() => changes.store.readByIds(some)))
      yield partOf(rows)
    }
  }

  function partOf(rows: readonly ChangeRow[]): ListPart {
    const key = `changes ${rows.map(({ id }) => id).join()}`
    return {
      key,
      read: async () => ({
        key,
        bytes: unpooledBytes(rows.map((row) => textOf(row, issue(row))).join()),
        count: rows.length,
      }),
    }
  }

  return async (request, reply) => {
    reply.header('cache-control', 'no-store')
    addVary(reply, 'accept')
    const view = viewOf?.(request)
    if (negotiate(request.headers.accept).stream === 'preferred' && request.method !== 'HEAD') {
      const after = readStreamStart(request, changes.cursors) ?? (await latest(view))
      return streams.send(request, reply, { after, view })
    }
    if (view) {
      const { entries, end, more } = await readView(view, request, reply)
      const data = entries.map(({ id, change }) => ({ cursor: issue({ id }), ...change }))
      return reply.send({ data, meta: { cursor: issue({ id: end }), more } })
    }
    const { entries, end, more } = await readPage(request, reply)
    return sendList(request, reply, {
      items: entries,
      toResource: (row) => ({ cursor: issue(row), ...changes.topics.present(row) }),
      lengthOf: ({ data }) => data.length + lengthOfRest,
      parts: (reading) => parts(entries, reading),
      meta: () => ({ cursor: issue({ id: end }), more }),
    })
  }
}
