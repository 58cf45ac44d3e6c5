/** Forms with a file, which is held in memory: larger files are for the command. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { type FormPart, readMultipart } from '../../../platform/http/multipart.ts'
import { onResponseEnd } from '../../../platform/http/response-end.ts'
import type { Upload } from './product-uploads.ts'

export const maxUploadBytes = 8 * 1024 * 1024
/** A file up to this size is part of the next page, so that it need not be chosen again. */
export const maxCarriedBytes = 2 * 1024 * 1024
/** For the other fields, and for a carried file, which is longer in base64. */
const spareBytes = 1024 * 1024
/** In each thread: each takes several times the size of its file. */
const maxAtOnce = 2

export interface UploadForm {
  _token: unknown
  act: unknown
  again: unknown
  /** Undefined if none was chosen. */
  upload: Upload | undefined
}

/** Does what an upload is for. The upload counts until that is done, even if the client has disconnected. */
export type UseUpload = <T>(request: FastifyRequest, use: () => Promise<T>) => Promise<T>

/** Call it in a plugin of its own, before adding its routes: they all accept such forms. */
export function acceptUploads(app: FastifyInstance): UseUpload {
  const held = new Set<FastifyRequest>()
  const inUse = new WeakSet<FastifyRequest>()
  app.addHook('onRoute', (route) => {
    route.bodyLimit = maxUploadBytes + spareBytes
  })
  // After the guards of the route: nobody else takes a place.
  app.addHook('preParsing', async (request, reply) => {
    if (held.size >= maxAtOnce) throw httpErrors.unavailable()
    held.add(request)
    onResponseEnd(reply.raw, () => {
      if (!inUse.has(request)) held.delete(request)
    })
  })
  const parse = async (request: FastifyRequest, raw: Buffer): Promise<UploadForm> => {
    const parts = readMultipart(raw, request.headers['content-type'] ?? '')
    if (!parts) throw httpErrors.malformedBody()
    return readForm(parts)
  }
  app.addContentTypeParser<Buffer>('multipart/form-data', { parseAs: 'buffer' }, parse)

  return async (request, use) => {
    // The client has disconnected before it began.
    if (!held.has(request)) throw httpErrors.unavailable()
    inUse.add(request)
    try {
      return await use()
    } finally {
      held.delete(request)
    }
  }
}

function readForm(parts: readonly FormPart[]): UploadForm {
  const textOf = (name: string) => parts.find((part) => part.name === name)?.content.toString()
  const file = parts.find(({ name, fileName }) => name === 'file' && fileName !== undefined)
  const [carried, name] = [textOf('carried'), textOf('name')]
  return {
    _token: textOf('_token'),
    act: textOf('act'),
    again: textOf('again'),
    upload:
      // Without a name: a field in which no file was chosen.
      file?.fileName
        ? { name: file.fileName, bytes: file.content }
        : carried !== undefined && name !== undefined
          ? { name, bytes: Buffer.from(carried, 'base64') }
          : undefined,
  }
}
