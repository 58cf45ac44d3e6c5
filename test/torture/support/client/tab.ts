/**
 * A process with several tabs, each a thread with a client of its own, on one storage that all processes share. Each tab calls
 * the service again and again, and sends the process that started it a message for each answer.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createLatchkey, LatchkeyError, SessionEndedError } from '../../../../packages/client/src/index.ts'
import { sqliteStorage } from '../../../support/sqlite-storage.ts'

/** To the process that started this one. `round` is the last one that was announced when the call began. */
export type TabMessage = { tab: number; round: number } | { tab: number; ended: string }

export interface TabOptions {
  url: string
  file: string
  /** The numbers of the tabs. */
  tabs: number[]
}

type LiveOptions = Omit<TabOptions, 'tabs'> & { tab: number }

if (isMainThread) startTabs(JSON.parse(process.argv[2] ?? '{}') as TabOptions)
else await live(workerData as LiveOptions)

function startTabs({ tabs, ...options }: TabOptions): void {
  const workers = tabs.map((tab) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { ...options, tab } satisfies LiveOptions })
    worker.on('message', (message: TabMessage) => process.send?.(message))
    return worker
  })
  process.on('message', (round: number) => {
    for (const worker of workers) worker.postMessage(round)
  })
  process.on('disconnect', () => process.exit())
}

async function live({ url, file, tab }: LiveOptions): Promise<void> {
  const client = createLatchkey({ url, storage: sqliteStorage(file) })
  let announced = 0
  let wake = () => {}
  parentPort?.on('message', (round: number) => {
    announced = round
    wake()
  })
  for (let done = 0; ; ) {
    const round = announced
    if (round === done) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    try {
      await client.me()
      done = round
      parentPort?.postMessage({ tab, round } satisfies TabMessage)
    } catch (error) {
      if (error instanceof SessionEndedError) {
        parentPort?.postMessage({ tab, ended: error.end.reason } satisfies TabMessage)
        return
      }
      // After an error of the network, it calls again.
      if (!(error instanceof LatchkeyError && error.isTemporary)) {
        parentPort?.postMessage({ tab, ended: String(error) } satisfies TabMessage)
        return
      }
    }
  }
}
