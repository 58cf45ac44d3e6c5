/** Imports a file: choose it, see what is in it, import it. Nothing is kept between these steps but by the page itself. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { FatalError } from '../../core/fatal-error.ts'
import { type Principal, principalOf } from '../../platform/access/route-guards.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { onResponseEnd } from '../../platform/http/response-end.ts'
import type { SendPage } from '../../platform/pages/pages.ts'
import type { ImportProgress, ImportRecord } from '../store/import-progress.ts'
import type { CheckedRow } from '../transfer/records.ts'
import type { RowProblem, UploadedFile } from '../transfer/serve-upload.ts'
import type { UploadReader, UploadThread } from '../transfer/upload-reader.ts'
import type { Uploads } from '../transfer/uploads.ts'
import {
  createImportViews,
  type ImportedFile,
  type ImportResult,
  type ImportWords,
  type Inspection,
} from './import.views.ts'
import { acceptUploads, type UploadForm } from './upload-forms.ts'

export interface ImportJob {
  id: string
  /** What an earlier run that was interrupted has done. */
  done: Pick<ImportRecord, 'records' | 'rejected'>
  principal: Principal
  signal: AbortSignal
}

export interface ImportPages<Values> {
  words: ImportWords
  /** The columns that this user may import. */
  columnsFor(principal: Principal): {
    required: readonly string[]
    optional: readonly string[]
    samples: readonly string[]
  }
  /** Who may import; decided before the body is read. */
  access: Pick<RouteShorthandOptions, 'config' | 'onRequest'>
  progress: ImportProgress
  threadFor(principal: Principal): UploadThread
  /** By which the progress of a file is kept; by default that of the file. */
  identify?(fileId: string, principal: Principal): string
  write(rows: AsyncIterable<readonly CheckedRow<Values>[]>, job: ImportJob): Promise<ImportResult>
}

const maxListedLines = 1000

export function addImportPages<Values>(
  app: FastifyInstance,
  { uploads, send, ...pages }: ImportPages<Values> & { uploads: Uploads; send: SendPage },
): void {
  const { words, access, progress } = pages
  const path = `/${words.many}/import`
  const views = createImportViews(words)
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort(httpErrors.unavailable()))
  const startPage = (request: FastifyRequest, problem?: string) =>
    views.importPage(pages.columnsFor(principalOf(request)), problem)

  app.get(path, access, (request, reply) => send(request, reply, startPage(request)))

  app.get<{ Params: { id: string } }>(`${path}/:id(^[0-9a-f]{64}$)`, access, async (request) => ({
    records: (await progress.find(request.params.id))?.records ?? 0,
  }))

  /** Throws a FatalError if the columns are wrong, or if there is too much in the file. */
  async function inspect({ request, file, reader }: Upload<Values>): Promise<ImportedFile> {
    const summary = await reader.summarize()
    const principal = principalOf(request)
    const id = pages.identify?.(summary.id, principal) ?? summary.id
    const inspection: Inspection = { ...summary, id, known: await progress.find(id) }
    return { fileName: file.name, inspection, samples: pages.columnsFor(principal).samples }
  }

  /** Continues an import of the same file that was interrupted. */
  async function run({ request, reader }: Upload<Values>, { id, known }: Inspection): Promise<ImportResult> {
    if (known?.finished_at) await progress.reset(id)
    const done = known && !known.finished_at ? known : { records: 0, rejected: 0 }
    return pages.write(reader.rows(), { id, done, principal: principalOf(request), signal: stopping.signal })
  }

  const acts: Record<'preview' | 'rejected' | 'import', Act<Values>> = {
    async preview(upload) {
      const shown = await inspect(upload)
      return () => send(upload.request, upload.reply, views.previewPage(shown))
    },
    async rejected({ request, reply, reader }) {
      const rows = await reader.listRejected(readLines(request.body?.lines))
      return () =>
        reply
          .header('content-disposition', 'attachment; filename="rejected.csv"')
          .type('text/csv; charset=utf-8')
          .send(rows)
    },
    async import(upload) {
      const { request, reply } = upload
      const file = await inspect(upload)
      // As safe to repeat as the command: the same file is imported once, unless that is asked for.
      if (file.inspection.known?.finished_at && request.body?.again !== 'yes') {
        return () => send(request, reply, views.previewPage(file), 409)
      }
      const result = await run(upload, file.inspection)
      return () => send(request, reply, views.importedPage(file, result))
    },
  }

  app.register(async (own) => {
    acceptUploads(own, uploads)
    own.post<UploadRoute>(path, access, async (request, reply) => {
      const { file, act } = request.body ?? {}
      if (!file) return send(request, reply, startPage(request, 'Choose a file.'), 422)
      const name = act === 'rejected' || act === 'import' ? act : 'preview'
      const signal = name === 'import' ? stopping.signal : AbortSignal.any([stopping.signal, disconnectionOf(reply)])
      const principal = principalOf(request)
      try {
        const uploader = { userId: principal.id, address: request.ip, signal }
        const respond = await uploads.use<Values, () => FastifyReply>(
          file,
          pages.threadFor(principal),
          uploader,
          (reader) => acts[name]({ request, reply, file, reader }),
        )
        return respond()
      } catch (error) {
        if (!(error instanceof FatalError)) throw error
        return send(request, reply, startPage(request, problemOf(error)), 422)
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

interface Upload<Values> {
  request: FastifyRequest<UploadRoute>
  reply: FastifyReply
  file: UploadedFile
  reader: UploadReader<Values>
}

/** Returns what sends the response: by then the next file of the same user is accepted. */
type Act<Values> = (upload: Upload<Values>) => Promise<() => FastifyReply>

/** Lines and their problems, as the page of the import has them. */
function readLines(given: unknown): RowProblem[] {
  try {
    const lines: unknown = JSON.parse(String(given))
    if (!Array.isArray(lines)) return []
    return lines.slice(0, maxListedLines).flatMap((each) => {
      const { line, problem } = (each ?? {}) as Partial<RowProblem>
      return typeof line === 'number' && typeof problem === 'string' ? [{ line, problem }] : []
    })
  } catch {
    return []
  }
}

/** As a sentence, without what is said of the options of the command. */
function problemOf({ message }: FatalError): string {
  const [text = ''] = message.split('; are its fields', 1)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
