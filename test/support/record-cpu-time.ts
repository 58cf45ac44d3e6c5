/** See cpu-times.ts. A test of its own, because tests run one after another, in the order of imports. */
import { test } from 'node:test'
import { cpuSecondsOf, recorderPrefix, recordTime } from './cpu-times.ts'

declare global {
  var recordedCpuSeconds: number | undefined
}

const name = new URL(import.meta.url).searchParams.get('name') ?? ''

test(`${recorderPrefix}${name}`, () => {
  const now = cpuSecondsOf(process.pid)
  recordTime(process.env.TEST_RUN_FOLDER ?? '', name, now - (globalThis.recordedCpuSeconds ?? 0))
  globalThis.recordedCpuSeconds = now
})
