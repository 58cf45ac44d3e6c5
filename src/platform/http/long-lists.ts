import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { createInFlight } from './in-flight.ts'

/** So much is written in well under a millisecond, or in one where a single item is longer. */
const itemsPerTurn = 100
const charactersPerTurn = 512 * 1024

export interface ListOptions<Item> {
  items: readonly Item[]
  toResource(item: Item): object
  /** About how many characters it becomes, as far as that can be many. */
  lengthOf(item: Item): number
  meta: object
}

const createReservation = createInFlight(256 * 1024 * 1024)

/** Sends `{"data": […], "meta": …}`. A long list is written bit by bit, so that others get their turn in between. */
export async function sendList<Item>(reply: FastifyReply, options: ListOptions<Item>): Promise<FastifyReply> {
  const { items, toResource, lengthOf, meta } = options
  reply.type('application/json; charset=utf-8')
  const ends = endsOfTurns(items, lengthOf)
  // V8 writes a list as a whole in half the time that a serializer made for the schema takes, item by item.
  if (ends.length === 1) return reply.send(JSON.stringify({ data: items.map(toResource), meta }))

  const reserve = createReservation(reply.raw)
  const parts = [Buffer.from('{"data":')]
  let start = 0
  for (const end of ends) {
    if (start > 0) await nextTurn()
    const text = JSON.stringify(items.slice(start, end).map(toResource))
    reserve(text.length)
    // As bytes: the whole as one text would be turned into them at once, at the end.
    parts.push(Buffer.from(`${start === 0 ? '[' : ','}${text.slice(1, -1)}`))
    start = end
  }
  parts.push(Buffer.from(`],"meta":${JSON.stringify(meta)}}`))
  return reply.send(Buffer.concat(parts))
}

/** Behind which items a turn ends; the last one behind all of them. */
function endsOfTurns<Item>(items: readonly Item[], lengthOf: (item: Item) => number): number[] {
  const ends: number[] = []
  let characters = 0
  let count = 0
  for (const [i, item] of items.entries()) {
    characters += lengthOf(item)
    count += 1
    if (count === itemsPerTurn || characters > charactersPerTurn) {
      ends.push(i + 1)
      characters = 0
      count = 0
    }
  }
  return count > 0 || ends.length === 0 ? [...ends, items.length] : ends
}
