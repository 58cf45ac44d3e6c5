import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'

const url = new URL('./standard-output.ts', import.meta.url).href
/** A program whose standard output takes so many characters in memory. */
const begin = (maxLength: number) => `const { openStandardOutput } = await import('${url}')
  const { openSync, closeSync } = await import('node:fs')
  const lost = []
  const output = openStandardOutput({ maxLength: ${maxLength}, retryMs: 1, onLost: (...each) => lost.push(each) })
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const line = 'x'.repeat(99) + String.fromCharCode(10)`
const run = (code: string, maxLength = 1000) => ['--input-type=module', '-e', `${begin(maxLength)}\n${code}`]

test('everything is written, in order, also at the end of the process and beyond the capacity of a pipe', async () => {
  const code = `for (let i = 0; i < 5000; i++) {
      output.write(i + ' ' + line)
      if (i % 9 === 0) await wait(0)
    }
    process.on('beforeExit', () => { output.write('last'); process.exit(3) })`
  const child = spawn(process.execPath, run(code, 1_000_000), { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const part of child.stdout) text += part
  const numbers = text.split('\n').map((line) => line.split(' ')[0])
  assert.deepEqual(numbers, [...Array.from({ length: 5000 }, (_, i) => String(i)), 'last'])
  assert.equal(child.exitCode ?? (await once(child, 'exit'))[0], 3)
})

test('on a full disk lines are kept up to a bound; once there is room they are written, with how many are lost', () => {
  const code = `await wait(0)
    let hasFailed = false
    const timer = globalThis.setTimeout
    globalThis.setTimeout = (work, ms) => { hasFailed ||= ms === 1; return timer(work, ms) }
    for (let i = 0; i < 25; i++) {
      output.write(line)
      while (i === 4 && !hasFailed) await new Promise((resolve) => timer(resolve, 5))
    }
    closeSync(1)
    openSync('/dev/null', 'w')
    while (lost.length === 0) await wait(1)
    console.error(lost[0][0], lost[0][1]?.code)`
  const full = openSync('/dev/full', 'w')
  const { stderr, status } = spawnSync(process.execPath, run(code), {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  // The first five are being written; ten more fit into memory.
  assert.deepEqual([stderr, status], ['10 ENOSPC\n', 0])
})

test('on a full disk the process ends as usual', () => {
  const full = openSync('/dev/full', 'w')
  const { status } = spawnSync(process.execPath, run('output.write(line); output.flushSync(); process.exit(3)'), {
    stdio: ['ignore', full, 'inherit'],
  })
  closeSync(full)
  assert.equal(status, 3)
})
