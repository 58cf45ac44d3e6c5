/** Bodies of GraphQL requests: JSON only, so that pages of other origins cannot send one without a CORS preflight. */
import { MIMEType } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { decodeBody } from '../../http/bodies.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { withExactNumbers } from '../execution/exact-json.ts'
import { isUtf8Name } from './media-types.ts'

/** Accepts an object, or the array of a batch. */
export function readGraphQLBodies(app: FastifyInstance): void {
  // Removes `__proto__` and `constructor.prototype` keys.
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, raw, done) => {
    if (!isDeclaredUtf8(request.headers['content-type'])) return done(httpErrors.unsupportedMediaType())
    const text = decodeBody(raw)
    if (text === undefined) return done(httpErrors.malformedBody())
    parseJson(request, text, (error: Error | null, body?: unknown) => {
      if (error || typeof body !== 'object' || body === null) done(httpErrors.malformedBody())
      else done(null, withExactNumbers(body, text))
    })
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(httpErrors.unsupportedMediaType()))
}

function isDeclaredUtf8(type: string | undefined): boolean {
  if (type === 'application/json') return true
  const charset = parseMediaType(type)?.params.get('charset')
  return charset === undefined || charset === null || isUtf8Name(charset)
}

function parseMediaType(type = ''): MIMEType | undefined {
  try {
    return new MIMEType(type)
  } catch {
    return undefined
  }
}
