/** Runs a backup and its proof in a thread of low priority, so that neither the event loop nor requests wait for it. */
import { Thread } from '../threads/thread.ts'
import type { ArchiveMessage, ArchiveResult, ArchiveTask } from './archive-messages.ts'

export async function runInArchiveThread(task: ArchiveTask, signal: AbortSignal): Promise<ArchiveResult> {
  const worker = new Thread(new URL('./archive-thread.ts', import.meta.url), {
    workerData: task,
    // What it holds does not grow with the database; the rest is room for long rows.
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 },
  })
  const stop = () => void worker.terminate()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await new Promise<ArchiveResult>((resolve, reject) => {
      worker.once('message', (message: ArchiveMessage) => {
        if (message.kind === 'done') resolve(message.result)
        else reject(new Error(message.message))
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('the thread of the backup ended early')))
      if (signal.aborted) stop()
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
