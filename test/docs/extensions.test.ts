/** The code of docs/extensions.md about testing is that of examples/notes/notes.test.ts, which runs; examples type-check. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { loadExtensions } from '../../src/app/load-extensions.ts'
import { root } from '../../src/config/root.ts'
import { blocksOf } from '../support/docs.ts'
import { eventually } from '../support/eventually.ts'
import { startApiWithRoles } from '../support/roles.ts'
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

test('the job of the example runs at its time of day', async (t) => {
  const example = join(root, 'docs', 'examples', 'stock-report.ts')
  const [, jobs = ''] = readFileSync(join(root, 'docs', 'extensions.md'), 'utf8').split('## Jobs')
  const [block = ''] = blocksOf(jobs, 'ts')
  const indented = block.trimEnd().replaceAll(/^(?=.)/gm, '  ')
  assert.ok(readFileSync(example, 'utf8').includes(indented), block)
  const api = await startApiWithRoles(t, { extensions: await loadExtensions([example], root) })
  await eventually(async () => assert.ok(await api.db.get('SELECT name FROM jobs')))
  api.clock.advance(86_400)
  await eventually(() => assert.ok(api.log.some((line) => line.includes('stock report'))))
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
