/** Runs test files in the given order, which `node --test` would sort. Exits with 1 if a test fails. */
import { resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: 'string' }, timeout: { type: 'string' } },
})
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())

const tests = run({
  files: positionals.map((file) => resolve(file)),
  concurrency: Number(values.concurrency),
  timeout: Number(values.timeout),
  signal: ending.signal,
})
tests.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1
})
tests.compose(spec).pipe(process.stdout)
