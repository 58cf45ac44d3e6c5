/** The changes of a topic over HTTP: in pages, waiting for more if asked to, and as server-sent events. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createNegotiation } from '../../graphql/http/media-types.ts'
import { type ListPart, type ListReading, sendList } from '../../http/long-lists.ts'
import { addVary } from '../../http/vary.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import { type ChangeRow, cursorOf } from '../change.ts'
import type { ChangeLog } from '../change-log.ts'
import type { ChangePage } from '../pages.ts'
import { createChangeStreams } from './change-stream.ts'
import { readChangesQuery, readStreamStart } from './changes-query.ts'
import { createHeldRequests } from './held-requests.ts'

export interface ChangesHandlerDeps {
  changes: ChangeLog
  topic: string
  /** Limits streams and requests that wait. */
  perAddress: ConnectionsPerAddress
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The approximate bytes of an entry without its data. */
const lengthOfRest = 300
const rowsPerPart = 32
/** Pages with nothing but entries of other topics, and how long they are. */
const maxSkipped = 10
const skippedLimit = 1000

export function createChangesHandler(
  app: FastifyInstance,
  { changes, topic, perAddress }: ChangesHandlerDeps,
): Handler {
  const negotiate = createNegotiation()
  const requests = createHeldRequests(app, perAddress)
  const texts = new WeakMap<ChangeRow, string>()
  const streams = createChangeStreams({ changes, topic, requests, textOf })
  app.addHook('onClose', () => streams.close())

  /** Made once for all readers of an entry. */
  function textOf(row: ChangeRow): string {
    let text = texts.get(row)
    if (text === undefined) {
      text = JSON.stringify(changes.topics.present(row))
      texts.set(row, text)
    }
    return text
  }

  async function readPage(request: FastifyRequest, reply: FastifyReply): Promise<ChangePage> {
    const { after = await changes.latest(), limit, waitSeconds } = readChangesQuery(request)
    const query = { topic, limit }
    let page = await changes.read({ ...query, after })
    // A client may take an empty page for the end.
    for (let skipped = 0; page.entries.length === 0 && page.more && skipped < maxSkipped; skipped++) {
      page = cut(await changes.read({ topic, limit: skippedLimit, after: page.position }), limit)
    }
    if (waitSeconds === 0 || page.entries.length > 0 || request.method === 'HEAD') return page
    const held = requests.hold(request, reply)
    const heldAt = performance.now()
    held.endAfter(waitSeconds * 1000)
    // Entries of other topics are no reason to answer.
    while (page.entries.length === 0 && !held.signal.aborted) {
      if (!page.more) await changes.wait(page.position, held.signal)
      page = await changes.read({ ...query, after: page.position })
    }
    held.release()
    // Waiting is no slowness, which the metrics would show.
    request.startedAt += performance.now() - heldAt
    return page
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
      read: async () => ({ key, bytes: Buffer.from(rows.map(textOf).join()), count: rows.length }),
    }
  }

  return async (request, reply) => {
    reply.header('cache-control', 'no-store')
    addVary(reply, 'accept')
    if (negotiate(request.headers.accept).stream === 'preferred' && request.method !== 'HEAD') {
      return streams.send(request, reply, readStreamStart(request) ?? (await changes.latest()))
    }
    const { entries, position, more } = await readPage(request, reply)
    return sendList(request, reply, {
      items: entries,
      toResource: (row) => changes.topics.present(row) ?? {},
      lengthOf: ({ data }) => data.length + lengthOfRest,
      parts: (reading) => parts(entries, reading),
      meta: () => ({ cursor: cursorOf(position), more }),
    })
  }
}

function cut(page: ChangePage, limit: number): ChangePage {
  const last = page.entries[limit - 1]
  if (!last || page.entries.length === limit) return page
  return { entries: page.entries.slice(0, limit), position: last.id, more: true }
}
