/** What a thread is doing, for a watcher that looks from outside while its event loop stands still. */

/** A name that a debugger can evaluate in the thread, without its modules. */
const key = Symbol.for('latchkey.activity')

export const activityExpression = `globalThis[Symbol.for('latchkey.activity')]?.() ?? []`

/** Replaces the description from before. */
export function describeActivity(describe: () => readonly string[]): void {
  Object.assign(globalThis, { [key]: describe })
}
