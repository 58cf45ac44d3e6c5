/** Request bodies: a JSON object or a form. An empty body counts as none, whatever its content type. */
import { isUtf8 } from 'node:buffer'
import { parse as parseForm } from 'node:querystring'
import type { FastifyInstance } from 'fastify'
import { markAsForm } from '../validation/body-validation.ts'
import { rememberLongNumbers } from '../validation/exact-numbers.ts'
import { httpErrors } from './http-errors.ts'

export async function readBodies(app: FastifyInstance): Promise<void> {
  // Removes `__proto__` and `constructor.prototype` keys, like any key that the schema does not name.
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, raw, done) => {
    const text = decodeBody(raw)
    if (text === undefined) return done(httpErrors.malformedBody())
    if (text === '') return done(null, undefined)
    parseJson(request, text, (error: Error | null, body?: unknown) => {
      if (error || typeof body !== 'object' || body === null || Array.isArray(body)) {
        done(httpErrors.malformedBody())
        return
      }
      rememberLongNumbers(body, text)
      done(null, body)
    })
  })
  app.addContentTypeParser('*', (request, _payload, done) => {
    if (request.headers['content-length'] === '0') done(null, undefined)
    else done(httpErrors.unsupportedMediaType())
  })
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
    done(null, markAsForm(parseForm(withoutByteOrderMark(text)))),
  )
}

/** Returns undefined if the body is not UTF-8. Removes the byte order mark that some clients send. */
export function decodeBody(raw: Buffer): string | undefined {
  // toString would silently replace invalid bytes.
  return isUtf8(raw) ? withoutByteOrderMark(raw.toString('utf8')) : undefined
}

function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
