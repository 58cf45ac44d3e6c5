/** Reads an uploaded file in a thread of its own: whatever is in the file, it can only harm that thread. */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { createPeer } from '../../platform/threads/peer.ts'
import { Thread } from '../../platform/threads/thread.ts'
import type { CheckedRow } from './records.ts'
import type { FileSummary, RowProblem, UploadedFile, UploadMethods } from './serve-upload.ts'

/** The module of a thread that calls `serveUpload`, and what it needs to know: plain data. */
export interface UploadThread {
  file: URL
  data?: object
}

export interface UploadReader<Values = unknown> {
  /** Both fail with a FatalError if the file cannot be imported. */
  summarize(): Promise<FileSummary>
  listRejected(refused: readonly RowProblem[]): Promise<string>
  rows(): AsyncIterable<readonly CheckedRow<Values>[]>
  /** Ends the thread at once. */
  close(): Promise<void>
}

/** More than twice what any file within the other limits takes. */
const heapMegabytes = 40

/** Takes the bytes of the file: they are the thread's from now on. */
export function openUploadReader<Values>(
  { file, data }: UploadThread,
  { name, bytes }: UploadedFile,
  { signal, maxHeapMegabytes = heapMegabytes }: { signal: AbortSignal; maxHeapMegabytes?: number },
): UploadReader<Values> {
  const worker = new Thread(file, {
    name: 'upload',
    workerData: { ...data, name, bytes } satisfies UploadedFile,
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes, maxYoungGenerationSizeMb: 8 },
  })
  const thread = createPeer<UploadMethods<Values>>(worker, {})
  const { promise: death, reject } = Promise.withResolvers<never>()
  death.catch(() => {})
  worker.once('error', (error) => reject(describeDeath(error as NodeJS.ErrnoException)))
  worker.once('exit', () => reject(new Error('the thread of the upload ended early')))
  const stop = () => reject(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })

  const within = <T>(call: Promise<T>) => Promise.race([call, death])
  const nextRows = () => within(thread.call('nextRows', undefined))

  return {
    summarize: () => within(thread.call('summarize', undefined)),
    listRejected: (refused) => within(thread.call('listRejected', refused)),
    async *rows() {
      // The next rows are read while these are written.
      let next = nextRows()
      for (;;) {
        const rows = await next
        if (!rows) return
        next = nextRows()
        next.catch(() => {})
        yield rows
      }
    },
    async close() {
      signal.removeEventListener('abort', stop)
      await worker.terminate()
    },
  }
}

function describeDeath(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error
  return new FatalError('reading the file takes too much memory', exitCodes.badData, { cause: error })
}
