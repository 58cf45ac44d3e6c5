/** Forms with a file, which is held in memory. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { type FormPart, readMultipart } from '../../platform/http/multipart.ts'
import { rateKey } from '../../platform/limiter/limiter.ts'
import type { UploadedFile } from '../transfer/serve-upload.ts'
import type { Uploads } from '../transfer/uploads.ts'

export interface UploadForm {
  _token: unknown
  act: unknown
  again: unknown
  /** Lines that were not imported, as JSON. */
  lines: unknown
  /** Undefined if none was chosen. */
  file: UploadedFile | undefined
}

/** Call it in a plugin of its own, before adding its routes: they all accept such forms. */
export function acceptUploads(
  app: FastifyInstance,
  { budget, requireIdle }: Pick<Uploads, 'budget' | 'requireIdle'>,
): void {
  const releases = new WeakMap<FastifyRequest, () => void>()
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    payload.resume()
    // It is read even if it is refused, because the client would not see the response otherwise, but not kept.
    requireIdle(principalOf(request).id)
    const { bytes, release } = await budget.receive(payload, rateKey(request.ip))
    releases.set(request, release)
    const parts = readMultipart(Buffer.from(bytes.buffer, 0, bytes.length), request.headers['content-type'] ?? '')
    if (!parts) throw httpErrors.malformedBody()
    return readForm(parts)
  })
  // When the work is done, even if the client has disconnected before.
  app.addHook('onSend', async (request) => releases.get(request)?.())
}

function readForm(parts: readonly FormPart[]): UploadForm {
  const textOf = (name: string) => parts.find((part) => part.name === name)?.content.toString()
  const sent = parts.find(({ name, fileName }) => name === 'file' && fileName !== undefined)
  const [carried, name] = [textOf('carried'), textOf('name')]
  return {
    _token: textOf('_token'),
    act: textOf('act'),
    again: textOf('again'),
    lines: textOf('lines'),
    file:
      // Without a name: a field in which no file was chosen.
      sent?.fileName
        ? { name: sent.fileName, bytes: sent.content as UploadedFile['bytes'] }
        : carried !== undefined && name !== undefined
          ? { name, bytes: decode(carried) }
          : undefined,
  }
}

/** Not in Node's pool, whose memory cannot be given to a thread. */
function decode(base64: string): UploadedFile['bytes'] {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(base64, 'base64'))
  return bytes.subarray(0, bytes.write(base64, 'base64'))
}
