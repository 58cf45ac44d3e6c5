/** The code of docs/extensions.md about testing is that of examples/notes/notes.test.ts, which runs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { blocksOf } from '../support/docs.ts'

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
