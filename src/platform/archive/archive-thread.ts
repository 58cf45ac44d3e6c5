/** The thread of archive-task.ts. */
import { stat } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.ts'
import { errorMessage } from '../../core/error-message.ts'
import { createOutputFile } from '../command-line/output-file.ts'
import type { ArchiveMessage, ArchiveResult, ArchiveTask } from './archive-messages.ts'
import { backUp, prove } from './transfer.ts'

const lowPriority = 10

// On Linux a thread has a priority of its own; elsewhere this would slow the whole process down.
if (process.platform === 'linux') setPriority(0, lowPriority)

async function run({ from, version, file, folder }: ArchiveTask): Promise<ArchiveResult> {
  const { manifest, leftOut } = await writeFile({ from, version, file })
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const { size: bytes } = await stat(file)
  const unproved = await findFlaw(file, folder, from)
  return { rows, bytes, leftOut, unproved }
}

async function writeFile({ from, version, file }: Omit<ArchiveTask, 'folder'>) {
  const output = await createOutputFile(file, { canReplace: false, mode: 0o600 })
  try {
    const made = await backUp({ from, version, clock: systemClock, write: output.write })
    await output.finish()
    return made
  } catch (error) {
    await output.discard()
    throw error
  }
}

async function findFlaw(file: string, folder: string, { schema }: ArchiveTask['from']): Promise<string | undefined> {
  try {
    await prove(file, folder, { schema, clock: systemClock })
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

let message: ArchiveMessage
try {
  message = { kind: 'done', result: await run(workerData as ArchiveTask) }
} catch (error) {
  message = { kind: 'failed', message: errorMessage(error) }
}
parentPort?.postMessage(message)
