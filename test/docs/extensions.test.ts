/** The code of docs/extensions.md about testing is that of examples/notes/notes.test.ts, which runs; examples type-check. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '../../src/config/root.ts'
import { blocksOf } from '../support/docs.ts'
import { isFull } from '../support/tiers.ts'

test('every call on the page is made by the tests of examples/notes', () => {
  const read = (...names: string[]) => readFileSync(join(root, ...names), 'utf8')
  const [, testing = ''] = read('docs', 'extensions.md').split('## Testing')
  const tests = read('examples', 'notes', 'notes.test.ts').replaceAll(', { engine', '')
  const calls = blocksOf(testing, 'ts')
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.includes('await ') && !line.includes('startService('))
  assert.ok(calls.length > 5)
  for (const call of calls) assert.ok(tests.includes(call.trim()), call)
})

if (isFull) {
  test('the examples type-check by the configuration that new extensions get', async () => {
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const { stdout } = (await promisify(execFile)(tsc, ['-p', join(root, 'examples')]).catch((error) => error)) as {
      stdout: string
    }
    assert.equal(stdout, '')
    assert.doesNotMatch(readFileSync(join(root, 'examples', 'notes', 'index.ts'), 'utf8'), /from 'fastify'/)
  })
}
