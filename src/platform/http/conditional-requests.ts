/** Requests that hold only for a certain state of the resource: RFC 9110, section 13. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { stripEncoding } from './compression.ts'

/** Sets the ETag. True where the client has this very answer already: then it gets 304 and no body. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  const known = listEtags(request.headers['if-none-match'])
  // Weak comparison: 8.8.3.2.
  const same = known.find((each) => each === '*' || stripEncoding(each.replace(/^W\//, '')) === etag)
  // The one that the client has, in its encoding: a cache would not know the answer by another (15.4.5).
  reply.header('etag', same === undefined || same === '*' ? etag : same)
  if (same !== undefined) reply.code(304)
  return same !== undefined
}

/** Whether the client wants its request to be carried out on a resource with this ETag; undefined where it does not care. */
export function ifMatch(request: FastifyRequest): ((etag: string) => boolean) | undefined {
  if (request.headers['if-match'] === undefined) return undefined
  const etags = listEtags(request.headers['if-match']).map(stripEncoding)
  // Strong comparison: a weak ETag matches nothing.
  return (etag) => etags.includes('*') || etags.includes(etag)
}

function listEtags(header = ''): string[] {
  if (header.trim() === '*') return ['*']
  // Between quotes stands a tag, before them the mark of a weak one. A quote that is never closed starts none.
  const parts = header.split('"')
  const etags: string[] = []
  for (let i = 1; i + 1 < parts.length; i += 2) etags.push(`${parts[i - 1]?.endsWith('W/') ? 'W/' : ''}"${parts[i]}"`)
  return etags
}
