/** Conditional requests: RFC 9110, section 13. */
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { stripEncoding } from './compression.ts'

/** Sets the ETag. Returns true, and sets status 304, if the client already has this version. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  const known = parseEtags(request.headers['if-none-match'])
  // Weak comparison: 8.8.3.2.
  const same = known.find((each) => each === '*' || stripEncoding(each.replace(/^W\//, '')) === etag)
  // Echo the client's ETag with its encoding suffix: a cache would not match the 304 to another one (15.4.5).
  reply.header('etag', same === undefined || same === '*' ? etag : same)
  if (same !== undefined) reply.code(304)
  return same !== undefined
}

/** Returns the If-Match condition, or undefined if the header is missing. */
export function ifMatch({ headers }: Pick<FastifyRequest, 'headers'>): ((etag: string) => boolean) | undefined {
  return headers['if-match'] === undefined ? undefined : matchEtags(headers['if-match'])
}

/** The condition of an If-Match header. `simplify` removes what does not matter here. */
export function matchEtags(header: string, simplify = (etag: string) => etag): (etag: string) => boolean {
  const etags = parseEtags(header).map((etag) => simplify(stripEncoding(etag)))
  // Strong comparison: a weak ETag matches nothing.
  return (etag) => etags.includes('*') || etags.includes(etag)
}

function parseEtags(header = ''): string[] {
  if (header.trim() === '*') return ['*']
  // Odd parts are quoted tags, preceded by `W/` for a weak one. An unclosed quote starts no tag.
  const parts = header.split('"')
  const etags: string[] = []
  for (let i = 1; i + 1 < parts.length; i += 2) etags.push(`${parts[i - 1]?.endsWith('W/') ? 'W/' : ''}"${parts[i]}"`)
  return etags
}

/** Of a content that is the same for as long as its bytes are. */
export function contentEtag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, 22)}"`
}
