/** The changes of a topic over HTTP: in pages, waiting for more if asked to, and as server-sent events. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { unpooledBytes } from '../../../core/unpooled-bytes.ts'
import { createNegotiation } from '../../graphql/http/media-types.ts'
import { type ListPart, type ListReading, sendList } from '../../http/long-lists.ts'
import { addVary } from '../../http/vary.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { ChangeRow } from '../change.ts'
import type { ChangeLog } from '../change-log.ts'
import type { PresentedChange } from '../topics.ts'
import { createChangeStreams, type ReaderView } from './change-stream.ts'
import { readChangesQuery, readStreamStart } from './changes-query.ts'
import { createHeldRequests } from './held-requests.ts'

export interface ChangesHandlerDeps {
  changes: ChangeLog
  topic: string
  /** Shows entries of other topics too. */
  view?: ReaderView
  /** Limits streams and requests that wait. */
  perAddress: ConnectionsPerAddress
}

interface AnsweredPage {
  entries: readonly ChangeRow[]
  /** Of a reader with a view. */
  shown: readonly { id: number; change: PresentedChange }[]
  more: boolean
  /** The last entry of the topic that the reader has seen. */
  end: number
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The approximate bytes of an entry without its data. */
const lengthOfRest = 300
const rowsPerPart = 32
/** That a reader with a view sees nothing of, until they are asked to go on themselves. */
const maxPages = 20

export function createChangesHandler(
  app: FastifyInstance,
  { changes, topic, view, perAddress }: ChangesHandlerDeps,
): Handler {
  const negotiate = createNegotiation()
  const requests = createHeldRequests(app, perAddress)
  const texts = new WeakMap<ChangeRow, string>()
  const streams = createChangeStreams({ changes, topic: view ? undefined : topic, requests, textOf, view })
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

  const latest = () => (view ? changes.latest() : changes.latestOf(topic))
  const issue = ({ id }: ChangeRow) => changes.cursors.issue(id)

  async function readPage(request: FastifyRequest, reply: FastifyReply): Promise<AnsweredPage> {
    const { after: given, limit, waitSeconds } = readChangesQuery(request, changes.cursors)
    const after = given ?? (await latest())
    const query = { limit, ...(!view && { topic }) }
    let page = await changes.read({ ...query, after })
    let shown = (await view?.show(page.entries, request)) ?? []
    const isEmpty = () => (view ? shown : page.entries).length === 0
    const readOn = async () => {
      page = await changes.read({ ...query, after: page.position })
      shown = (await view?.show(page.entries, request)) ?? []
    }
    // What the reader does not see is no page.
    for (let pages = 1; isEmpty() && page.more && pages < maxPages; pages++) await readOn()
    if (waitSeconds > 0 && isEmpty() && request.method !== 'HEAD') {
      const held = requests.hold(request, reply)
      const heldAt = performance.now()
      held.endAfter(waitSeconds * 1000)
      // Entries of other topics are no reason to answer.
      while (isEmpty() && !held.signal.aborted) {
        await changes.wait(page.position, held.signal)
        await readOn()
      }
      held.release()
      // Waiting is no slowness, which the metrics would show.
      request.startedAt += performance.now() - heldAt
    }
    const { entries, more } = page
    // A view reads on from wherever it has come, also where it showed nothing.
    return { entries, shown, more, end: view ? page.position : (entries.at(-1)?.id ?? after) }
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
    if (negotiate(request.headers.accept).stream === 'preferred' && request.method !== 'HEAD') {
      return streams.send(request, reply, readStreamStart(request, changes.cursors) ?? (await latest()))
    }
    const { entries, shown, end, more } = await readPage(request, reply)
    if (view) {
      const data = shown.map(({ id, change }) => ({ cursor: changes.cursors.issue(id), ...change }))
      return reply.send({ data, meta: { cursor: changes.cursors.issue(end), more } })
    }
    return sendList(request, reply, {
      items: entries,
      toResource: (row) => ({ cursor: issue(row), ...changes.topics.present(row) }),
      lengthOf: ({ data }) => data.length + lengthOfRest,
      parts: (reading) => parts(entries, reading),
      meta: () => ({ cursor: changes.cursors.issue(end), more }),
    })
  }
}
