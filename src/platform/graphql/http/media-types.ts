/** Which form of an answer a client takes: GraphQL-over-HTTP, "Accept", and RFC 9110, 12.5.1. */
import { LRUCache } from 'lru-cache'

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

interface Range {
  type: string
  q: number
  position: number
}

export function negotiate(accept: string): Accepted {
  const ranges = accept.split(',').flatMap(parseRange)
  if (ranges.length === 0) return anything
  const best = (['application/json', 'application/graphql-response+json', eventStreamType] as const)
    .flatMap((type) => {
      const range = rangeOf(type, ranges)
      return range && range.q > 0 ? [{ type, ...range }] : []
    })
    .toSorted((a, b) => b.q - a.q || a.position - b.position)
  const json = best.find(({ type }) => type !== eventStreamType)?.type as JsonType | undefined
  if (best[0]?.type === eventStreamType) return { json, stream: 'preferred' }
  return { json, stream: best.some(({ type }) => type === eventStreamType) ? 'accepted' : 'refused' }
}

/** The most precise range that a type falls under. */
function rangeOf(type: string, ranges: readonly Range[]): Omit<Range, 'type'> | undefined {
  const names = type === eventStreamType ? [type] : [type, 'application/*', '*/*']
  for (const name of names) {
    const range = ranges.find((each) => each.type === name)
    if (range) return { q: range.q, position: range.position }
  }
  return undefined
}

function parseRange(text: string, position: number): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  if (type === '') return []
  let q = 1
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=').map((part) => part.trim())
    if (name === 'q') q = Number(value) || 0
    // We write nothing but UTF-8.
    else if (name === 'charset' && !isUtf8Name(value)) q = 0
  }
  return [{ type, q, position }]
}

export function isUtf8Name(charset: string): boolean {
  return /^"?utf-?8"?$/i.test(charset)
}
