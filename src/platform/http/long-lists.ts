/**
 * Sends `{"data": […], "meta": …}`. A short list is one text, sent at once. A long one is streamed: parts are read as
 * the client takes them, and what slow clients leave unread is given up and read again rather than held.
 */
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Ticket } from '../../core/fair-lines.ts'
import { createFairQueue } from '../../core/fair-queue.ts'
import { rateKey } from '../limiter/limiter.ts'
import { onAnswerEnd } from './answer-end.ts'
import { addressOf } from './client.ts'
import { httpErrors } from './http-errors.ts'
import { createResponseMemory, type Held, type ResponseMemory } from './response-memory.ts'

export interface ListOptions<Item> {
  /** Undefined where there are too many to be held. */
  items: readonly Item[] | undefined
  toResource(item: Item): object
  /** About how many bytes it becomes. Undefined where it is not complete: then the list can only be streamed. */
  lengthOf(item: Item): number | undefined
  /** The same items for a stream. */
  parts(reading: ListReading<Item>): AsyncIterable<ListPart>
  /** Follows the items, of which so many were sent. */
  meta(sent: number): object
}

export interface ListReading<Item> {
  /** Returns `items` as long as there is room for them. */
  held(): readonly Item[] | undefined
  /** What asks the database for a part of the list, other than `read` of the part itself. */
  inTurn: InTurn
}

/** Does the work once it is the client's turn. Rejects where the client is gone by then. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** Some items that follow each other. */
export interface ListPart {
  /** The same for all lists that have these items in this state. */
  key: string
  read(): Promise<PartContent>
}

export interface PartContent {
  /** Another one where an item has changed since. */
  key: string
  /** The items as JSON, with commas between them. */
  bytes: Buffer
  count: number
}

/** Serialising so much takes well under a millisecond, or one where a single item is longer. */
const itemsPerTurn = 100
const bytesPerTurn = 512 * 1024

/** Up to here an answer takes no more memory than the sockets do anyway. */
const uncountedBytes = 128 * 1024
/** A longer list is streamed. */
const maxWholeBytes = 2 * 1024 * 1024
/** What a client gets at once, and the most that waits in front of its socket. */
const sliceBytes = 128 * 1024

/** Of an item in a list that is not complete. */
const assumedBytes = 5000

const memoryOfAll = createResponseMemory({
  maxReservedBytes: 64 * 1024 * 1024,
  maxHeldBytes: 128 * 1024 * 1024,
})

/** However many long lists are read, so many of their parts are made at once, and addresses take turns. */
const turns = createFairQueue({
  atOnce: 4,
  maxPerClient: 512,
  maxWaiting: 4096,
  full: httpErrors.unavailable,
  gone: httpErrors.unavailable,
})

export async function sendList<Item>(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ListOptions<Item>,
): Promise<FastifyReply> {
  const { items, toResource, lengthOf, meta } = options
  reply.type('application/json; charset=utf-8')
  const length = items && lengthOfAll(items, lengthOf)
  if (items !== undefined && length !== undefined) {
    if (length <= uncountedBytes || (length <= maxWholeBytes && memoryOfAll.tryReserve(reply.raw, length))) {
      // V8 serialises a list as a whole in half the time that a serializer made for the schema takes, item by item.
      if (items.length <= itemsPerTurn && length <= bytesPerTurn) {
        return reply.send(JSON.stringify({ data: items.map(toResource), meta: meta(items.length) }))
      }
      return reply.send(await serializeByTurns(items, options))
    }
  }
  // The framework would read the whole stream only to drop it.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const held = items && memoryOfAll.hold({}, items, length ?? items.length * assumedBytes)
  const { socket } = request.raw
  const ticket: Ticket = { client: rateKey(addressOf(request)), isUrgent: true, isGone: () => socket.destroyed }
  const inTurn: InTurn = (work) => turns.run(ticket, work)
  const parts = options.parts({ held: () => held?.get(), inTurn })
  const bytes = streamList(parts, { memory: memoryOfAll, meta, inTurn })
  const release = () => {
    held?.release()
    void bytes.return(undefined)
  }
  onAnswerEnd(reply.raw, release)
  // Failures of the first read, and refusals, are answered as errors; what fails later can only end the connection.
  const first = await bytes.next()
  ticket.isBegun = true
  return reply.send(Readable.from(continued(first, bytes), { objectMode: false, highWaterMark: 1 }))
}

function lengthOfAll<Item>(items: readonly Item[], lengthOf: (item: Item) => number | undefined): number | undefined {
  let length = 0
  for (const item of items) {
    const itemLength = lengthOf(item)
    if (itemLength === undefined) return undefined
    length += itemLength
  }
  return length
}

/** As bytes: the whole as one text would be encoded at once, at the end. */
async function serializeByTurns<Item>(
  items: readonly Item[],
  { toResource, lengthOf, meta }: ListOptions<Item>,
): Promise<Buffer> {
  const parts = [Buffer.from('{"data":')]
  let start = 0
  for (const end of endsOfTurns(items, lengthOf)) {
    if (start > 0) await nextTurn()
    const text = JSON.stringify(items.slice(start, end).map(toResource))
    parts.push(Buffer.from(`${start === 0 ? '[' : ','}${text.slice(1, -1)}`))
    start = end
  }
  parts.push(Buffer.from(`],"meta":${JSON.stringify(meta(items.length))}}`))
  return Buffer.concat(parts)
}

/** The index behind the last item of each turn. */
function endsOfTurns<Item>(items: readonly Item[], lengthOf: ListOptions<Item>['lengthOf']): number[] {
  const ends: number[] = []
  let length = 0
  let count = 0
  for (const [i, item] of items.entries()) {
    length += lengthOf(item) ?? 0
    count += 1
    if (count === itemsPerTurn || length > bytesPerTurn) {
      ends.push(i + 1)
      length = 0
      count = 0
    }
  }
  return count > 0 || ends.length === 0 ? [...ends, items.length] : ends
}

export interface StreamOptions {
  memory: ResponseMemory
  meta(sent: number): object
  inTurn: InTurn
}

/** The bytes of the answer, in slices. A part that had to be given up between two slices is read again. */
export async function* streamList(
  parts: AsyncIterable<ListPart>,
  { memory, meta, inTurn }: StreamOptions,
): AsyncGenerator<Buffer> {
  let sent = 0
  for await (const part of parts) {
    let { content, held } = await obtain(part, part.key, { memory, inTurn })
    const { key, count } = content
    const { length } = content.bytes
    try {
      for (let start = 0; count > 0 && start < length; start += sliceBytes) {
        if (start > 0) {
          const known = held.get()
          if (!known) held.release()
          ;({ content, held } = known ? { content: known, held } : await obtain(part, key, { memory, inTurn }))
          if (content.key !== key) throw new Error('an item of a long list changed while it was being sent')
        }
        const before = start > 0 ? '' : sent === 0 ? beginning : ','
        // A copy: a view would keep all of the part alive until the client has read it, and so would the variable.
        const slice = Buffer.concat([Buffer.from(before), content.bytes.subarray(start, start + sliceBytes)])
        content = nothing
        yield slice
      }
      sent += count
    } finally {
      held.release()
    }
  }
  yield Buffer.from(`${sent === 0 ? beginning : ''}],"meta":${JSON.stringify(meta(sent))}}`)
}

const beginning = '{"data":['
const nothing: PartContent = { key: '', bytes: Buffer.alloc(0), count: 0 }

interface Obtained {
  content: PartContent
  held: Held<PartContent>
}

/** From another list that holds it, or by reading it. */
async function obtain(
  part: ListPart,
  key: string,
  { memory, inTurn }: Pick<StreamOptions, 'memory' | 'inTurn'>,
): Promise<Obtained> {
  const find = (): Obtained | undefined => {
    const held = memory.find<PartContent>(key)
    const content = held?.get()
    return held && content && { content, held }
  }
  return (
    find() ??
    inTurn(async () => {
      // Somebody may have read it while we waited for our turn.
      const found = find()
      if (found) return found
      const content = await part.read()
      return { content, held: memory.hold(content.key, content, content.bytes.length) }
    })
  )
}

async function* continued(first: IteratorResult<Buffer, void>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (!first.done) yield first.value
  yield* rest
}
