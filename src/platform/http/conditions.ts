/** Requests that hold only for a certain state of the resource: RFC 9110, section 13. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { stripEncoding } from './compression.ts'

/** Sets the ETag. True where the client has this very answer already: then it gets 304 and no body. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag)
  const known = request.headers['if-none-match']
  // Weak comparison: 8.8.3.2.
  if (known === undefined || !listEtags(known).some((each) => each === '*' || each.replace(/^W\//, '') === etag)) {
    return false
  }
  reply.code(304)
  return true
}

/** Whether the client wants its request to be carried out on a resource with this ETag; undefined where it does not care. */
export function ifMatch(request: FastifyRequest): ((etag: string) => boolean) | undefined {
  const wanted = request.headers['if-match']
  if (wanted === undefined) return undefined
  const etags = listEtags(wanted)
  // Strong comparison: a weak ETag matches nothing.
  return (etag) => etags.includes('*') || etags.includes(etag)
}

function listEtags(header: string): string[] {
  return (header.match(/\*|(?:W\/)?"[^"]*"/g) ?? []).map(stripEncoding)
}
