import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { TSchema } from 'typebox'
import { httpErrors } from './errors.ts'

/** So many items are written in well under a millisecond. */
const itemsPerTurn = 100
const longBytes = 1024 * 1024

export interface ListOptions<Item> {
  items: readonly Item[]
  toResource(item: Item): object
  /** Of one resource. */
  schema: TSchema
  meta: object
}

/** All long answers together, until their clients have read them: whoever comes then is asked to come again. */
const maxBytesInFlight = 256 * 1024 * 1024
let bytesInFlight = 0

/** Sends `{"data": […], "meta": …}`. A long list is written bit by bit, so that others get their turn in between. */
export async function sendList<Item>(reply: FastifyReply, options: ListOptions<Item>): Promise<FastifyReply> {
  const { items, toResource, schema, meta } = options
  // Compiled once: the framework remembers the schema itself. Its types know objects with any keys only.
  const write = reply.compileSerializationSchema(schema as { [key: string]: unknown }) as (resource: object) => string
  const parts: Buffer[] = []
  const reserve = createReservation(reply)
  let text = '{"data":['
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % itemsPerTurn === 0) {
      // As bytes: the whole as one text would be turned into them at once, at the end.
      parts.push(Buffer.from(text))
      reserve(text.length)
      text = ''
      await nextTurn()
    }
    text += `${i > 0 ? ',' : ''}${write(toResource(item))}`
  }
  text += `],"meta":${JSON.stringify(meta)}}`
  if (text.length > longBytes) reserve(text.length)
  reply.type('application/json; charset=utf-8')
  return reply.send(parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text)]))
}

/** Takes bytes of what may be in flight, until the connection has got the answer or is gone. */
function createReservation(reply: FastifyReply): (bytes: number) => void {
  let reserved = 0
  return (bytes) => {
    if (bytesInFlight + bytes > maxBytesInFlight) throw httpErrors.unavailable()
    if (reserved === 0) {
      reply.raw.once('close', () => {
        bytesInFlight -= reserved
      })
    }
    reserved += bytes
    bytesInFlight += bytes
  }
}
