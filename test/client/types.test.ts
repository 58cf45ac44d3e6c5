/** The types and the sources of @latchkey/client. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateTypes, readTypes } from '../../packages/client/tools/generate-types.ts'
import { root } from '../../src/config/root.ts'
import { shareApi } from '../support/api.ts'

const shared = shareApi()
const sources = globSync('packages/client/src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('/openapi.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

test("its types are those of the service's own description", async () => {
  const { body } = await (await shared()).get('/openapi.json')
  assert.equal(await generateTypes(body), readTypes(), 'run "npm run generate" in packages/client')
})

test('nothing in it needs Node, and it imports nothing but its files and openapi-fetch', () => {
  assert.ok(sources.length > 15)
  const allowed = (target: string) => target.startsWith('.') || target === 'openapi-fetch'
  const imported = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)]
      .filter(([, target = '']) => !allowed(target) || (target.startsWith('.') && target.includes('../../../')))
      .map(([, target]) => `${file} → ${target}`),
  )
  assert.deepEqual(imported, [])
  const globals = /\b(process|Buffer|require|__dirname|setImmediate)\b\s*[.(]/
  assert.deepEqual(
    sources.filter(({ text }) => globals.test(text)).map(({ file }) => file),
    [],
  )
})

test('the service does not load it', () => {
  const named = globSync('src/**/*.ts', { cwd: root }).filter((file) =>
    // Pages show programs that do, as text.
    /^(import|export|\}).* '.*(packages\/client|@latchkey\/client|openapi-fetch)|import\('[^']*client'\)/m.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  )
  assert.deepEqual(named, [])
})
