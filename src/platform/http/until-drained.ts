import type { Writable } from 'node:stream'

/** Resolves when what was written has been read, or cannot be read any more. Undefined if nothing is waited for. */
export function untilDrained(stream: Writable): Promise<void> | undefined {
  if (!stream.writableNeedDrain || stream.destroyed) return undefined
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.once('drain', done)
    stream.once('close', done)
  })
}
