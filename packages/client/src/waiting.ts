/** Resolves after the time, or when the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

const firstMs = 100
const maxMs = 5000

/** Doubles with each failure. A part of it is random, so that clients which failed together do not come back together. */
export function backoffMs(failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** failures) * (0.5 + Math.random() / 2)
}

/** 128 random bits as text. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
