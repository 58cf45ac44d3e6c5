/** Which form of an answer a client takes: GraphQL-over-HTTP, "Accept", and RFC 9110, 12.5.1. */
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

export type JsonType = 'application/json' | 'application/graphql-response+json'

export interface Accepted {
  /** For an answer in one piece. Undefined where the client takes none of ours. */
  readonly json: JsonType | undefined
  /** Event streams have to be named: who takes everything does not expect one. */
  readonly stream: 'refused' | 'accepted' | 'preferred'
}

export const eventStreamType = 'text/event-stream'

/** Without a wish it is what clients have always been given. */
const anything: Accepted = { json: 'application/json', stream: 'refused' }

/** Programs send the same few headers over and over. */
const maxKept = 100
const maxKeptLength = 256

export function createNegotiation(): (accept: string | undefined) => Accepted {
  const kept = new LRUCache<string, Accepted>({ max: maxKept })
  return (accept) => {
    if (accept === undefined || accept === '*/*' || accept === 'application/json') return anything
    let accepted = kept.get(accept)
    if (!accepted) {
      accepted = negotiate(accept)
      if (accept.length <= maxKeptLength) kept.set(accept, accepted)
    }
    return accepted
  }
}

const jsonTypes: JsonType[] = ['application/json', 'application/graphql-response+json']

export function negotiate(accept: string): Accepted {
  if (/^[\s,]*$/.test(accept)) return anything
  const negotiator = new Negotiator({ headers: { accept: withoutParameters(accept) } })
  const ranges = negotiator.mediaTypes()
  const isStreamNamed = ranges.includes(eventStreamType)
  // Of types that are liked equally the first wins; negotiator would put those that are named before those that are not.
  const best = negotiator
    .mediaTypes(isStreamNamed ? [...jsonTypes, eventStreamType] : jsonTypes)
    .toSorted((a, b) => positionOf(a, ranges) - positionOf(b, ranges))
  const stream = best[0] === eventStreamType ? 'preferred' : isStreamNamed ? 'accepted' : 'refused'
  return { json: best.find((type): type is JsonType => type !== eventStreamType), stream }
}

/** That of the most precise range that a type falls under. */
function positionOf(type: string, ranges: readonly string[]): number {
  const names = [type, 'application/*', '*/*']
  return names.map((name) => ranges.indexOf(name)).find((position) => position >= 0) ?? ranges.length
}

/** All but the weight. What we write has none of them, and negotiator would refuse it. */
function withoutParameters(accept: string): string {
  return accept.toLowerCase().replace(/;([^;,=]*)=?([^;,]*)/g, (parameter, name: string, value: string) => {
    if (name.trim() === 'q') return parameter
    // We write nothing but UTF-8.
    return name.trim() === 'charset' && !isUtf8Name(value.trim()) ? ';q=0' : ''
  })
}

export function isUtf8Name(charset: string): boolean {
  return /^"?utf-?8"?$/i.test(charset)
}
