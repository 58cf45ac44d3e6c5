/** Content negotiation: GraphQL-over-HTTP, "Accept", and RFC 9110, 12.5.1. */
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

export type JsonType = 'application/json' | 'application/graphql-response+json'

export interface AcceptedTypes {
  /** Undefined if the client accepts neither JSON type. */
  readonly json: JsonType | undefined
  /** Event streams must be named explicitly: a client that accepts everything does not expect one. */
  readonly stream: 'refused' | 'accepted' | 'preferred'
}

export const eventStreamType = 'text/event-stream'

/** Without a preference, `application/json` for compatibility. */
const defaultTypes: AcceptedTypes = { json: 'application/json', stream: 'refused' }

/** Clients send the same few headers again and again. */
const maxCached = 100
const maxCachedLength = 256

export function createNegotiation(): (accept: string | undefined) => AcceptedTypes {
  const cache = new LRUCache<string, AcceptedTypes>({ max: maxCached })
  return (accept) => {
    if (accept === undefined || accept === '*/*' || accept === 'application/json') return defaultTypes
    let accepted = cache.get(accept)
    if (!accepted) {
      accepted = negotiate(accept)
      if (accept.length <= maxCachedLength) cache.set(accept, accepted)
    }
    return accepted
  }
}

const jsonTypes: JsonType[] = ['application/json', 'application/graphql-response+json']

export function negotiate(accept: string): AcceptedTypes {
  if (/^[\s,]*$/.test(accept)) return defaultTypes
  const negotiator = new Negotiator({ headers: { accept: withoutParameters(accept) } })
  const ranges = negotiator.mediaTypes()
  const isStreamNamed = ranges.includes(eventStreamType)
  // Among equal weights the first range wins; negotiator would prefer exact types to wildcards.
  const best = negotiator
    .mediaTypes(isStreamNamed ? [...jsonTypes, eventStreamType] : jsonTypes)
    .toSorted((a, b) => positionOf(a, ranges) - positionOf(b, ranges))
  const stream = best[0] === eventStreamType ? 'preferred' : isStreamNamed ? 'accepted' : 'refused'
  return { json: best.find((type): type is JsonType => type !== eventStreamType), stream }
}

/** The position of the most specific range that matches the type. */
function positionOf(type: string, ranges: readonly string[]): number {
  const names = [type, 'application/*', '*/*']
  return names.map((name) => ranges.indexOf(name)).find((position) => position >= 0) ?? ranges.length
}

/** Removes all parameters but `q`: our types have none, and negotiator would not match them. */
function withoutParameters(accept: string): string {
  return accept.toLowerCase().replace(/;([^;,=]*)=?([^;,]*)/g, (parameter, name: string, value: string) => {
    if (name.trim() === 'q') return parameter
    // Responses are always UTF-8.
    return name.trim() === 'charset' && !isUtf8Name(value.trim()) ? ';q=0' : ''
  })
}

export function isUtf8Name(charset: string): boolean {
  return /^"?utf-?8"?$/i.test(charset)
}
