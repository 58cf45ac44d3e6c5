/** Runs test files in the given order, which `node --test` would sort. Exits with 1 if a test fails. */
import { resolve } from 'node:path'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { recorderPrefix } from './cpu-times.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: 'string' }, timeout: { type: 'string' }, preload: { type: 'string' } },
})
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())

const preloaded = [new URL('without-tracking.ts', import.meta.url).href, ...(values.preload ? [values.preload] : [])]
const tests = run({
  files: positionals.map((file) => resolve(file)),
  concurrency: Number(values.concurrency),
  timeout: Number(values.timeout),
  execArgv: preloaded.map((url) => `--import=${url}`),
  signal: ending.signal,
})
tests.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1
})
tests.compose(withoutRecorders).compose(spec).pipe(process.stdout)

/** What cpu-times.ts adds is no test of anything. */
async function* withoutRecorders(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  let hidden = 0
  for await (const event of events) {
    const { name = '', nesting = 0, message = '' } = event.data as { name?: string; nesting?: number; message?: string }
    if (name.startsWith(recorderPrefix)) {
      if (event.type === 'test:pass') hidden += 1
      continue
    }
    const [, counted, count] = (nesting === 0 && /^(tests|pass) (\d+)$/.exec(message)) || []
    if (counted === undefined) yield event
    else yield { ...event, data: { ...event.data, message: `${counted} ${Number(count) - hidden}` } } as TestEvent
  }
}
