/** Forms with a file, which is held in memory: larger files are for the command. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createBodyBudget } from '../../../platform/http/body-budget.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { type FormPart, readMultipart } from '../../../platform/http/multipart.ts'
import { rateKey } from '../../../platform/limiter/limiter.ts'
import type { UploadedFile } from '../transfer/upload-thread.ts'

export const maxUploadBytes = 8 * 1024 * 1024
/** For the other fields, and for a carried file, which is longer in base64. */
const spareBytes = 1024 * 1024
const maxBodyBytes = maxUploadBytes + spareBytes

export interface UploadForm {
  _token: unknown
  act: unknown
  again: unknown
  /** Undefined if none was chosen. */
  file: UploadedFile | undefined
}

/**
 * Call it in a plugin of its own, before adding its routes: they all accept such forms. `requireIdle` throws if the form
 * would be refused anyway: it is then read, because the client would not see the response otherwise, but not kept.
 */
export function acceptUploads(app: FastifyInstance, requireIdle: (request: FastifyRequest) => void): void {
  const budget = createBodyBudget({ maxBodyBytes, maxClientBytes: 2 * maxBodyBytes, maxBytes: 4 * maxBodyBytes })
  const releases = new WeakMap<FastifyRequest, () => void>()
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    payload.resume()
    requireIdle(request)
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
