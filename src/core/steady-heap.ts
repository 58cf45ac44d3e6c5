import { setFlagsFromString } from 'node:v8'

/**
 * For a process that serves. When little has happened for half a minute, V8 gives memory back and allows the heap so
 * little room that the next busy minute collects garbage several times a second, on threads that take turns with the
 * event loop: where cores are few, a request then waits for up to 20 ms. The memory is kept instead.
 */
export function keepHeapSteady(): void {
  // Read each time it might begin, so it can still be set when the process runs.
  setFlagsFromString('--memory-reducer-gc-count=0')
}
