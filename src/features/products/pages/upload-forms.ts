/** Forms with a file, which is held in memory: larger files are for the command. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { httpErrors } from '../../../platform/http/http-errors.ts'
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

/** Call it in a plugin of its own, before adding its routes: they all accept such forms. */
export function acceptUploads(app: FastifyInstance): void {
  let held = 0
  app.addHook('onRoute', (route) => {
    route.bodyLimit = maxUploadBytes + spareBytes
  })
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return
    if (held >= maxAtOnce) throw httpErrors.unavailable()
    held += 1
    // Also if the client disconnects.
    reply.raw.once('close', () => {
      held -= 1
    })
  })
  const parse = async (request: FastifyRequest, raw: Buffer): Promise<UploadForm> => {
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    try {
      return await readForm(await new Response(new Uint8Array(raw), { headers }).formData())
    } catch {
      throw httpErrors.malformedBody()
    }
  }
  app.addContentTypeParser<Buffer>('multipart/form-data', { parseAs: 'buffer' }, parse)
}

async function readForm(form: FormData): Promise<UploadForm> {
  const [file, carried, name] = ['file', 'carried', 'name'].map((field) => form.get(field))
  return {
    _token: form.get('_token'),
    act: form.get('act'),
    again: form.get('again'),
    upload:
      file instanceof File && file.size > 0
        ? { name: file.name, bytes: Buffer.from(await file.arrayBuffer()) }
        : typeof carried === 'string' && typeof name === 'string'
          ? { name, bytes: Buffer.from(carried, 'base64') }
          : undefined,
  }
}
