/** Imports files that a browser sends: read, checked and identified as by the command products:import. */
import { AppError } from '../../../core/app-error.ts'
import type { Clock } from '../../../core/clock.ts'
import { createFairQueue } from '../../../core/fair-queue.ts'
import type { Database } from '../../../platform/database/database.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import type { LimitPerAddress } from '../../../platform/limiter/connections-per-address.ts'
import { createProductImport } from '../transfer/product-import.ts'
import { createProductImportStore, type ImportRecord } from '../transfer/product-imports.store.ts'
import { openUploadReader, type UploadReader } from '../transfer/upload-reader.ts'
import type { FileSummary, UploadedFile } from '../transfer/upload-thread.ts'

/** What is in a file. */
export interface Inspection extends FileSummary {
  /** An earlier import of the same file. */
  known: ImportRecord | undefined
}

export interface Uploader {
  userId: number
  /** The client's address. */
  address: string
  /** Aborted when nobody waits for the result any more, until something is written. */
  signal: AbortSignal
}

const uploadUnderWay = () =>
  new AppError(429, 'Another file of yours is still being processed. Try again when it is done.', {
    code: 'too_many_attempts',
    headers: { 'retry-after': '5' },
  })

/** In each thread that serves: each reads a file in a thread of its own. */
const maxAtOnce = 2

export interface ProductUploadsDeps {
  db: Database
  clock: Clock
  limitPerAddress: LimitPerAddress
  /** Called after rows are committed. */
  onChanged(): void
}

const keyOf = (userId: number) => `user ${userId}`

export type ProductUploads = ReturnType<typeof createProductUploads>

export function createProductUploads({ db, clock, limitPerAddress, onChanged }: ProductUploadsDeps) {
  const store = createProductImportStore({ db, clock })
  // Each user counts like an address.
  const perUser = limitPerAddress('uploads', 1)
  const queue = createFairQueue({
    atOnce: maxAtOnce,
    maxPerClient: 4,
    maxWaiting: 32,
    full: httpErrors.unavailable,
    gone: httpErrors.unavailable,
  })
  // The service's own connection, whose settings stay as they are.
  const openWriter = async () => ({
    async write(...statements: Parameters<Database['write']>) {
      const [first = []] = await db.write(...statements)
      onChanged()
      return first
    },
    settle: async () => {},
  })
  const importer = createProductImport({ db, clock, store, openWriter })

  function enter(userId: number): () => void {
    const release = perUser.enter(keyOf(userId))
    if (!release) throw uploadUnderWay()
    return release
  }

  return {
    /** Throws if another file of the user is being read or imported. */
    requireIdle(userId: number): void {
      if (perUser.isFull(keyOf(userId))) throw uploadUnderWay()
    },

    /** Waits for its turn. Throws if another file of the same user is being read or imported. */
    async use<T>(
      file: UploadedFile,
      { userId, address, signal }: Uploader,
      work: (reader: UploadReader) => Promise<T>,
    ): Promise<T> {
      const release = enter(userId)
      try {
        return await queue.run({ client: address, isUrgent: false, isGone: () => signal.aborted }, async () => {
          const reader = openUploadReader(file, { signal })
          try {
            return await work(reader)
          } finally {
            await reader.close()
          }
        })
      } finally {
        release()
      }
    },

    /** Throws a FatalError if the columns are wrong, or if there is too much in the file. */
    async inspect(reader: UploadReader): Promise<Inspection> {
      const summary = await reader.summarize()
      return { ...summary, known: await store.find(summary.id) }
    },

    /** Continues an import of the same file that was interrupted. Returns the number of new products. */
    async run(reader: UploadReader, { id, known }: Inspection, { by, signal }: { by: number; signal: AbortSignal }) {
      if (known?.finished_at) await store.reset(id)
      const { imported, isInterrupted } = await importer.run({
        rows: reader.rows(),
        id,
        done: known && !known.finished_at ? known : { records: 0, rejected: 0 },
        by,
        signal,
        onRejected() {},
        onProgress() {},
      })
      return { imported, isInterrupted }
    },

    /** How many records of the file are done. */
    progress: async (id: string) => (await store.find(id))?.records ?? 0,
  }
}
