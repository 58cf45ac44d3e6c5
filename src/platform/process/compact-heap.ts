import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects the garbage of the start and returns its memory to the operating system, which V8 would keep for later. It takes a
 * tenth of a second, so it is for a thread that serves nobody.
 */
export function compactHeap(): void {
  // Of the process, and not taken back: several threads may be here at once.
  setFlagsFromString('--expose-gc')
  // Only contexts made after the flag was set have the function.
  const collect = runInNewContext('gc') as NonNullable<typeof gc>
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
