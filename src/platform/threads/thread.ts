/** A worker thread, which also works under `node --watch`, and keeps compiled code as the process does. */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads'

/** In watch mode, Node has each thread tell its owner what it imports, among the messages of the program. */
const reports = ['watch:import', 'watch:require']

export class Thread extends Worker {
  constructor(file: URL, options?: WorkerOptions) {
    const caching = cachingModule()
    super(caching === undefined ? file : new URL(toDataUrl(`${caching}await import('${file.href}')`)), options)
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    return event === 'message' && passOn(given[0]) ? true : super.emit(event, ...given)
  }
}

/** Turns on Node's compile cache, which is off in a new thread: loading what strips the types from our sources takes 150 ms. */
export function cachingModule(): string | undefined {
  const folder = getCompileCacheDir()
  // The bundle has compiled code of its own.
  if (folder === undefined || !import.meta.url.endsWith('.ts')) return undefined
  return `import { enableCompileCache } from 'node:module'\nenableCompileCache(${JSON.stringify(dirname(folder))})\n`
}

export function toDataUrl(module: string): string {
  return `data:text/javascript,${encodeURIComponent(module)}`
}

/** To the process that watches, thread by thread. Returns whether it was for that one. */
function passOn(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !reports.some((each) => each in message)) return false
  if (parentPort) parentPort.postMessage(message)
  else process.send?.(message)
  return true
}
