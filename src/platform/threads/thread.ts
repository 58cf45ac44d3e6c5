/** A worker thread that keeps compiled code as the process does. */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

export class Thread extends Worker {
  constructor(file: URL, options?: WorkerOptions) {
    const caching = cachingModule(file)
    super(
      caching === undefined ? file : new URL(toDataUrl(`${caching}await import(${JSON.stringify(file.href)})`)),
      options,
    )
  }
}

/**
 * Turns on Node's compile cache, which is off in a new thread: loading what strips the types from our sources takes 150 ms.
 * Undefined for a file of the bundle, which has compiled code of its own.
 */
export function cachingModule(file: URL): string | undefined {
  const folder = getCompileCacheDir()
  if (folder === undefined || !file.pathname.endsWith('.ts')) return undefined
  return `import { enableCompileCache } from 'node:module'\nenableCompileCache(${JSON.stringify(dirname(folder))})\n`
}

export function toDataUrl(module: string): string {
  return `data:text/javascript,${encodeURIComponent(module)}`
}
