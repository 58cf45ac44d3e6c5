/**
 * Sends `{"data": […], "meta": …}`. Short lists are sent as one body. Long lists are streamed: parts are read as fast
 * as the client reads; for slow clients they are evicted from memory and read again later.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientGone } from '../../core/current-client.ts'
import type { Ticket } from '../../core/fair-lines.ts'
import { createFairQueue } from '../../core/fair-queue.ts'
import { concatUnpooled } from '../../core/unpooled-bytes.ts'
import { rateKey } from '../limiter/limiter.ts'
import { addressOf } from './client.ts'
import { httpErrors } from './http-errors.ts'
import { onResponseEnd } from './response-end.ts'
import { createResponseMemory, type Held, type ResponseMemory } from './response-memory.ts'

export interface ListOptions<Item> {
  /** Undefined if there are too many to hold in memory. */
  items: readonly Item[] | undefined
  toResource(item: Item): object
  /**
   * Approximate length in bytes. Undefined for an item that is not fully loaded: then the list can only be streamed.
   */
  lengthOf(item: Item): number | undefined
  /** The same items, for streaming. */
  parts(reading: ListReading<Item>): AsyncIterable<ListPart>
  /** Sent after the items; `sent` is their number. */
  meta(sent: number): object
}

export interface ListReading<Item> {
  /** Returns `items` unless they have been evicted from memory. */
  held(): readonly Item[] | undefined
  /** For database queries other than `read` of a part. */
  schedule: Schedule
}

/** Queues the work fairly by client. Rejects if the client has disconnected by then. */
export type Schedule = <T>(work: () => Promise<T>) => Promise<T>

/** Some consecutive items. */
export interface ListPart {
  /** Equal for lists that contain the same versions of these items. */
  key: string
  read(): Promise<PartContent>
}

export interface PartContent {
  /** Differs if an item has changed in between. */
  key: string
  /** The items as JSON, separated by commas. */
  bytes: Buffer
  count: number
}

/** Serializing a chunk takes well under a millisecond, or about one if a single item is longer. */
const itemsPerChunk = 100
const bytesPerChunk = 512 * 1024

/** Shorter responses take no more memory than their sockets. */
const uncountedBytes = 128 * 1024
/** Longer lists are streamed. */
const maxWholeBytes = 2 * 1024 * 1024
/** Size of a write, and limit of what is buffered per client. */
const sliceBytes = 128 * 1024

/** For items of unknown length. */
const assumedBytes = 5000

const sharedMemory = createResponseMemory({
  maxReservedBytes: 64 * 1024 * 1024,
  maxHeldBytes: 128 * 1024 * 1024,
})

/** Limits how many parts of long lists are read at once, fairly by address. */
const partQueue = createFairQueue({
  atOnce: 4,
  maxPerClient: 512,
  maxWaiting: 4096,
  full: httpErrors.unavailable,
  gone: clientGone,
})

export async function sendList<Item>(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ListOptions<Item>,
): Promise<FastifyReply> {
  const { items, lengthOf, meta } = options
  reply.type('application/json; charset=utf-8')
  const length = items && lengthOfAll(items, lengthOf)
  if (items !== undefined && length !== undefined) {
    if (length <= uncountedBytes || (length <= maxWholeBytes && sharedMemory.tryReserve(reply.raw, length))) {
      if (items.length <= itemsPerChunk && length <= bytesPerChunk) return reply.send(serialize(items, options))
      return reply.send(await serializeInChunks(items, options))
    }
  }
  // Fastify would read the whole stream only to discard it.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const held = items && sharedMemory.hold({}, items, length ?? items.length * assumedBytes)
  const { socket } = request.raw
  const ticket: Ticket = { client: rateKey(addressOf(request)), isUrgent: true, isGone: () => socket.destroyed }
  // Later parts are asked for by the connection, outside of the request's context.
  const inContext = AsyncLocalStorage.snapshot()
  const schedule: Schedule = (work) => partQueue.run(ticket, () => inContext(work))
  const parts = options.parts({ held: () => held?.get(), schedule })
  const bytes = streamList(parts, { memory: sharedMemory, meta, schedule })
  const release = () => {
    held?.release()
    void bytes.return(undefined)
  }
  onResponseEnd(reply.raw, release)
  // Errors of the first read become an error response; later ones can only end the connection.
  const first = await bytes.next()
  ticket.isBegun = true
  return reply.send(Readable.from(prepend(first, bytes), { objectMode: false, highWaterMark: 1 }))
}

/** The body of a list that is short enough to be kept. */
export function bodyOfShortList<Item>(options: ListOptions<Item>): string | undefined {
  const { items, lengthOf } = options
  if (items === undefined || items.length > itemsPerChunk) return undefined
  const length = lengthOfAll(items, lengthOf)
  return length !== undefined && length <= uncountedBytes ? serialize(items, options) : undefined
}

/** JSON.stringify of the whole list takes half the time of a schema-based serializer per item. */
function serialize<Item>(items: readonly Item[], { toResource, meta }: ListOptions<Item>): string {
  return JSON.stringify({ data: items.map(toResource), meta: meta(items.length) })
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

/** Encodes each chunk: encoding the whole text at the end would block the event loop. */
async function serializeInChunks<Item>(
  items: readonly Item[],
  { toResource, lengthOf, meta }: ListOptions<Item>,
): Promise<Buffer> {
  const parts = [Buffer.from('{"data":')]
  let start = 0
  for (const end of chunkEnds(items, lengthOf)) {
    if (start > 0) await yieldToEventLoop()
    const text = JSON.stringify(items.slice(start, end).map(toResource))
    parts.push(Buffer.from(`${start === 0 ? '[' : ','}${text.slice(1, -1)}`))
    start = end
  }
  parts.push(Buffer.from(`],"meta":${JSON.stringify(meta(items.length))}}`))
  return concatUnpooled(parts)
}

/** The exclusive end index of each chunk. */
function chunkEnds<Item>(items: readonly Item[], lengthOf: ListOptions<Item>['lengthOf']): number[] {
  const ends: number[] = []
  let length = 0
  let count = 0
  for (const [i, item] of items.entries()) {
    length += lengthOf(item) ?? 0
    count += 1
    if (count === itemsPerChunk || length > bytesPerChunk) {
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
  schedule: Schedule
}

/** Yields the response body in slices. A part that is evicted between two slices is read again. */
export async function* streamList(
  parts: AsyncIterable<ListPart>,
  { memory, meta, schedule }: StreamOptions,
): AsyncGenerator<Buffer> {
  let sent = 0
  for await (const part of parts) {
    let { content, held } = await getPart(part, part.key, { memory, schedule })
    const { key, count } = content
    const { length } = content.bytes
    try {
      for (let start = 0; count > 0 && start < length; start += sliceBytes) {
        if (start > 0) {
          const known = held.get()
          if (!known) held.release()
          ;({ content, held } = known ? { content: known, held } : await getPart(part, key, { memory, schedule }))
          if (content.key !== key) throw new Error('an item of a long list changed while it was being sent')
        }
        const before = start > 0 ? '' : sent === 0 ? bodyStart : ','
        // A copy, because a view would keep the whole part alive until the client has read it. So would `content`.
        const slice = Buffer.concat([Buffer.from(before), content.bytes.subarray(start, start + sliceBytes)])
        content = emptyPart
        yield slice
      }
      sent += count
    } finally {
      held.release()
    }
  }
  yield Buffer.from(`${sent === 0 ? bodyStart : ''}],"meta":${JSON.stringify(meta(sent))}}`)
}

const bodyStart = '{"data":['
const emptyPart: PartContent = { key: '', bytes: Buffer.alloc(0), count: 0 }

interface HeldPart {
  content: PartContent
  held: Held<PartContent>
}

/** Shares the part with another list that holds it, or reads it. */
async function getPart(
  part: ListPart,
  key: string,
  { memory, schedule }: Pick<StreamOptions, 'memory' | 'schedule'>,
): Promise<HeldPart> {
  const find = (): HeldPart | undefined => {
    const held = memory.find<PartContent>(key)
    const content = held?.get()
    return held && content && { content, held }
  }
  return (
    find() ??
    schedule(async () => {
      // Another list may have read it while this one was queued.
      const found = find()
      if (found) return found
      const content = await part.read()
      return { content, held: memory.hold(content.key, content, content.bytes.length) }
    })
  )
}

async function* prepend(first: IteratorResult<Buffer, void>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (!first.done) yield first.value
  yield* rest
}
