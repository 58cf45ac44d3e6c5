/** Imports a file: choose it, see what is in it, import it. Nothing is kept between these steps but by the page itself. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FatalError } from '../../../core/fatal-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { csvText } from '../../../platform/csv/csv-text.ts'
import { readColumns } from '../transfer/columns.ts'
import { importedPage, importPage, previewPage } from './import.views.ts'
import type { ProductPagesDeps } from './product-pages.ts'
import type { Inspection, Upload } from './product-uploads.ts'
import { acceptUploads, type UploadForm } from './upload-forms.ts'

export function addImportPages(app: FastifyInstance, { forms, uploads, send }: ProductPagesDeps): void {
  const writing = { config: { access: forms.writeAccess, docs: false } } as const
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())

  app.get('/products/import', writing, (request, reply) => send(request, reply, importPage()))

  app.get<{ Params: { id: string } }>('/products/import/:id(^[0-9a-f]{64}$)', writing, async (request) => ({
    records: await uploads.progress(request.params.id),
  }))

  const acts: Record<'preview' | 'rejected' | 'import', Act> = {
    async preview({ request, reply, upload, inspection }) {
      return send(request, reply, previewPage(upload, inspection))
    },
    async rejected({ reply, inspection }) {
      return reply
        .header('content-disposition', 'attachment; filename="rejected.csv"')
        .type('text/csv; charset=utf-8')
        .send(rejectedText(inspection))
    },
    async import({ request, reply, upload, inspection, isAgain }) {
      // As safe to repeat as the command: the same file is imported once, unless that is asked for.
      if (inspection.known?.finished_at && !isAgain) return send(request, reply, previewPage(upload, inspection), 409)
      const outcome = await uploads.run(upload, inspection, { by: principalOf(request).id, signal: stopping.signal })
      return send(request, reply, importedPage(upload, inspection, outcome))
    },
  }

  app.register(async (own) => {
    const useUpload = acceptUploads(own)
    const answer = async (request: UploadRequest, reply: FastifyReply) => {
      const { upload, act, again } = request.body ?? {}
      if (!upload) return send(request, reply, importPage('Choose a file.'), 422)
      try {
        const inspection = await uploads.inspect(upload)
        const run = acts[act === 'rejected' || act === 'import' ? act : 'preview']
        return await run({ request, reply, upload, inspection, isAgain: again === 'yes' })
      } catch (error) {
        if (!(error instanceof FatalError)) throw error
        return send(request, reply, importPage(problemOf(error)), 422)
      }
    }
    own.post<UploadRoute>('/products/import', writing, (request, reply) =>
      useUpload(request, () => answer(request, reply)),
    )
  })
}

interface UploadRoute {
  Body: Partial<UploadForm> | undefined
}
type UploadRequest = FastifyRequest<UploadRoute>

type Act = (given: {
  request: FastifyRequest
  reply: FastifyReply
  upload: Upload
  inspection: Inspection
  isAgain: boolean
}) => Promise<FastifyReply>

/** As a sentence, without what is said of the options of the command. */
function problemOf({ message }: FatalError): string {
  const [text = ''] = message.split('; are its fields', 1)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** Can be corrected and imported: columns that an import does not know are ignored. */
function rejectedText({ rejectedRows }: Inspection): string {
  const rows = rejectedRows.map(({ line, problem, row = {} }) => [
    line,
    problem,
    ...readColumns.map((column) => cellOf(row[column])),
  ])
  return csvText([['line', 'problem', ...readColumns], ...rows])
}

/** A list or an object, which no column has, need not have a text. */
function cellOf(value: unknown): string {
  return value === undefined || typeof value === 'object' ? '' : String(value)
}
