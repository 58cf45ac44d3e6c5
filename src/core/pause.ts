import { setTimeout as sleep } from 'node:timers/promises'

/** Ends early if the signal is aborted. Does not keep the process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
}
