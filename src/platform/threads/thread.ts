/** A worker thread, which also works under `node --watch`. */
import { parentPort, Worker } from 'node:worker_threads'

/** In watch mode, Node has each thread tell its owner what it imports, among the messages of the program. */
const reports = ['watch:import', 'watch:require']

export class Thread extends Worker {
  override emit(event: string | symbol, ...given: unknown[]): boolean {
    return event === 'message' && passOn(given[0]) ? true : super.emit(event, ...given)
  }
}

/** To the process that watches, thread by thread. Returns whether it was for that one. */
function passOn(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !reports.some((each) => each in message)) return false
  if (parentPort) parentPort.postMessage(message)
  else process.send?.(message)
  return true
}
