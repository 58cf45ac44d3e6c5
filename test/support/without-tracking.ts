/**
 * Loaded before node:test, which otherwise follows every promise of the process to name the test that an uncaught error
 * belongs to. That takes a tenth of the processor time. Such an error still fails its file, and its stack is printed.
 */
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { isMainThread } from 'node:worker_threads'

/** For the tests after it. One of them may wait forever for what the error has prevented. */
const graceMs = 120_000

if (isMainThread) {
  const require = createRequire(import.meta.url)
  const asyncHooks = require('node:async_hooks') as { createHook: unknown }
  const { createHook } = asyncHooks
  asyncHooks.createHook = () => ({ enable() {}, disable() {} })
  require('node:test')
  asyncHooks.createHook = createHook
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, endSoon)
}

function endSoon(error: unknown): void {
  process.stderr.write(`not caught by any test: ${inspect(error)}\n`)
  setTimeout(() => process.exit(1), graceMs).unref()
}
