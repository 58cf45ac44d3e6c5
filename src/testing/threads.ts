/** Serving threads that are used again, because each has to load the whole program. */
import type { Worker } from 'node:worker_threads'
import { servingThread, type Workers } from '../app/threads/supervised-thread.ts'
import { Thread } from '../platform/threads/thread.ts'

const idle: Worker[] = []

export const pooledWorkers: Workers = {
  take() {
    const worker = idle.pop() ?? start()
    worker.ref()
    return worker
  },
  async giveBack(worker) {
    worker.unref()
    idle.push(worker)
  },
}

function start(): Worker {
  const worker = new Thread(servingThread)
  worker.once('exit', () => {
    const index = idle.indexOf(worker)
    if (index >= 0) idle.splice(index, 1)
  })
  return worker
}
