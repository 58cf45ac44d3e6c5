/** Imports a file: choose it, see what is in it, import it. Nothing is kept between these steps but by the page itself. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FatalError } from '../../../core/fatal-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { onResponseEnd } from '../../../platform/http/response-end.ts'
import type { UploadReader } from '../transfer/upload-reader.ts'
import type { UploadedFile } from '../transfer/upload-thread.ts'
import { importedPage, importPage, previewPage } from './import.views.ts'
import type { ProductPagesDeps } from './product-pages.ts'
import { acceptUploads, type UploadForm } from './upload-forms.ts'

export function addImportPages(app: FastifyInstance, { forms, uploads, send }: ProductPagesDeps): void {
  const writing = { config: { access: forms.writeAccess, docs: false } } as const
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort(httpErrors.unavailable()))

  app.get('/products/import', writing, (request, reply) => send(request, reply, importPage()))

  app.get<{ Params: { id: string } }>('/products/import/:id(^[0-9a-f]{64}$)', writing, async (request) => ({
    records: await uploads.progress(request.params.id),
  }))

  const acts: Record<'preview' | 'rejected' | 'import', Act> = {
    async preview({ request, reply, file, reader }) {
      const inspection = await uploads.inspect(reader)
      return () => send(request, reply, previewPage(file.name, inspection))
    },
    async rejected({ reply, reader }) {
      const rows = await reader.listRejected()
      return () =>
        reply
          .header('content-disposition', 'attachment; filename="rejected.csv"')
          .type('text/csv; charset=utf-8')
          .send(rows)
    },
    async import({ request, reply, file, reader }) {
      const inspection = await uploads.inspect(reader)
      // As safe to repeat as the command: the same file is imported once, unless that is asked for.
      if (inspection.known?.finished_at && request.body?.again !== 'yes') {
        return () => send(request, reply, previewPage(file.name, inspection), 409)
      }
      const outcome = await uploads.run(reader, inspection, { by: principalOf(request).id, signal: stopping.signal })
      return () => send(request, reply, importedPage(file.name, inspection, outcome))
    },
  }

  app.register(async (own) => {
    acceptUploads(own, (request) => uploads.requireIdle(principalOf(request).id))
    own.post<UploadRoute>('/products/import', writing, async (request, reply) => {
      const { file, act } = request.body ?? {}
      if (!file) return send(request, reply, importPage('Choose a file.'), 422)
      const name = act === 'rejected' || act === 'import' ? act : 'preview'
      const signal = name === 'import' ? stopping.signal : AbortSignal.any([stopping.signal, disconnectionOf(reply)])
      try {
        const uploader = { userId: principalOf(request).id, address: request.ip, signal }
        const respond = await uploads.use(file, uploader, (reader) => acts[name]({ request, reply, file, reader }))
        return respond()
      } catch (error) {
        if (!(error instanceof FatalError)) throw error
        return send(request, reply, importPage(problemOf(error)), 422)
      }
    })
  })
}

function disconnectionOf(reply: FastifyReply): AbortSignal {
  const disconnection = new AbortController()
  onResponseEnd(reply.raw, () => disconnection.abort(httpErrors.unavailable()))
  return disconnection.signal
}

interface UploadRoute {
  Body: Partial<UploadForm> | undefined
}
type UploadRequest = FastifyRequest<UploadRoute>

/** Returns what sends the response: by then the next file of the same user is accepted. */
type Act = (upload: {
  request: UploadRequest
  reply: FastifyReply
  file: UploadedFile
  reader: UploadReader
}) => Promise<() => FastifyReply>

/** As a sentence, without what is said of the options of the command. */
function problemOf({ message }: FatalError): string {
  const [text = ''] = message.split('; are its fields', 1)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
