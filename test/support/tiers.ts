/** What a run is for: `npm run test:fast` while you edit, `npm test` for every claim, `npm run test:full` everywhere. */

/** `npm run test:full` repeats claims on both engines, with two threads, in all widths and looks, and with more input. */
export const isFull = process.env.TEST_TIER === 'full'

/** All of them in `npm run test:full`, otherwise the named ones: enough to notice that the claim is broken. */
export function chosen<T>(all: readonly T[], isChosen: (each: T, index: number) => boolean): readonly T[] {
  return isFull ? all : all.filter(isChosen)
}

/** How often or how much: `npm run test:full` takes more. */
export function amount({ full, otherwise }: { full: number; otherwise: number }): number {
  return isFull ? full : otherwise
}
