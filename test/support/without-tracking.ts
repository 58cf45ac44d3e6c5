/**
 * Loaded before node:test, which otherwise follows every promise of the process to name the test that an uncaught error
 * belongs to. That takes a tenth of the processor time. Such an error still fails its file, and its stack is printed.
 */
import { AsyncResource, type AsyncResourceOptions } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { isMainThread } from 'node:worker_threads'

/** For the tests after it. One of them may wait forever for what the error has prevented. */
const graceMs = 120_000

if (isMainThread) {
  const require = createRequire(import.meta.url)
  const asyncHooks = require('node:async_hooks') as { createHook: unknown; AsyncResource: typeof AsyncResource }
  const { createHook } = asyncHooks
  type Init = (id: number, type: string, triggerId: number, resource: object) => void
  let follow: Init = () => {}
  asyncHooks.createHook = ({ init }: { init: Init }) => {
    follow = init
    return { enable() {}, disable() {} }
  }
  // Suites and tests, which it must know: those that are declared in a suite belong to it.
  asyncHooks.AsyncResource = class extends AsyncResource {
    constructor(type: string, options?: AsyncResourceOptions) {
      super(type, options)
      follow(this.asyncId(), type, this.triggerAsyncId(), this)
    }
  }
  require('node:test')
  Object.assign(asyncHooks, { createHook, AsyncResource })
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, endSoon)
}

function endSoon(error: unknown): void {
  process.stderr.write(`not caught by any test: ${inspect(error)}\n`)
  setTimeout(() => process.exit(1), graceMs).unref()
}
