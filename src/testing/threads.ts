/** Serving threads that are used again, because each has to load the whole program. */
import { Worker } from 'node:worker_threads'
import { servingThread, type Workers } from '../app/threads/supervised-thread.ts'

const idle: Worker[] = []

export const pooledWorkers: Workers = {
  take() {
    const worker = idle.pop() ?? new Worker(servingThread)
    worker.ref()
    return worker
  },
  async giveBack(worker) {
    worker.unref()
    idle.push(worker)
  },
}
