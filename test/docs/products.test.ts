/** Every example of docs/products.md runs. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import announce, { told } from '../../docs/examples/announce.ts'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { blocksOf } from '../support/docs.ts'

const page = readFileSync(join(root, 'docs', 'products.md'), 'utf8')

test('the commands on the page run, one after another, and print what it says', async (t) => {
  const api = await startApi(t, { extensions: [announce] })
  const script = blocksOf(page, 'sh').join('\n')
  const env = { PATH: process.env.PATH ?? '', BASE: api.url }
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], { env })
  const responses = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const [, made, read, changed, refused] = responses
  const [envelope, invalid] = blocksOf(page, 'json').map((block) => JSON.parse(block))
  const { created_at, updated_at } = made.data.attributes
  assert.deepEqual(made, {
    data: { ...envelope.data, attributes: { ...envelope.data.attributes, created_at, updated_at } },
  })
  assert.deepEqual(read, made)
  assert.equal(changed.data.attributes.formatted_price, '$999.99')
  assert.deepEqual(refused, invalid)
  const names = (response: { data: { attributes: { name: string } }[] }) =>
    response.data.map(({ attributes }) => attributes.name)
  const [listed, pple, eclair, food, dearest, byName, found, unchanged, won, lost, first, second, stocked, changes] =
    responses.slice(8)
  assert.deepEqual(listed.meta, { total: 3, page: 1, per_page: 2, last_page: 2 })
  assert.deepEqual(
    [names(pple), names(eclair), names(food)],
    [['apple juice', 'Apple Pie'], ['Éclair'], ['apple juice', 'Apple Pie', 'Éclair']],
  )
  assert.deepEqual(
    [names(dearest), names(byName), names(found)],
    [['apple juice', 'Apple Pie'], ['Éclair'], ['apple juice', 'Apple Pie']],
  )
  assert.deepEqual([unchanged, won.data.attributes.stock, lost.error], [304, 10, 'Product has changed'])
  assert.deepEqual(first, second)
  assert.deepEqual(
    changes.data.map(({ type, data }: { type: string; data: object }) => ({ type, data })),
    [{ type: 'product.updated', data: stocked.data }],
  )
  assert.equal(told.at(-1), 'Mug is new, for 9.99 dollars')
})

test('the code on the page is the code of docs/examples/announce.ts', () => {
  const source = readFileSync(join(root, 'docs', 'examples', 'announce.ts'), 'utf8')
  for (const block of blocksOf(page, 'ts')) assert.ok(source.includes(block), block)
})
