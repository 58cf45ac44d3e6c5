/** The commands of docs/changes.md run, and its programs are those of docs/examples/changes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { blocksOf } from '../support/docs.ts'
import { openStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'

const read = (...path: string[]) => readFileSync(join(root, 'docs', ...path), 'utf8')
const page = read('changes.md')

test('the commands on the page run, one after another, and print what it says', async (t) => {
  const api = await startApi(t)
  const script = blocksOf(page, 'sh').join('\n')
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], {
    env: { PATH: process.env.PATH ?? '', BASE: api.url },
  })
  const [registered, made, changes, ...events] = stdout.split('\n').filter((line) => line !== '')
  assert.equal(JSON.parse(registered ?? '').data.email, 'writer@example.com')
  const product = JSON.parse(made ?? '').data
  const { data, meta } = JSON.parse(changes ?? '')
  const [shown] = blocksOf(page, 'json').map((block) => JSON.parse(block))
  assert.deepEqual(data[0].data, product)
  const [example] = shown.data
  assert.deepEqual({ ...meta, cursor: shown.meta.cursor }, shown.meta)
  for (const { cursor } of [meta, data[0], shown.meta, example]) assert.match(cursor, /^[\w-]{48}$/)
  assert.deepEqual([{ ...data[0], cursor: example.cursor, at: example.at, data: example.data }], shown.data)
  assert.equal(shown.data[0].data.attributes.name, product.attributes.name)
  const [id, sent] = events.slice(-2).map((line) => line.slice(line.indexOf(': ') + 2))
  assert.deepEqual(JSON.parse(sent ?? ''), { ...data[0], cursor: id })

  const [query = ''] = blocksOf(page, 'graphql')
  const stream = await openStream(t, api.url, query)
  await eventually(() => assert.equal(stream.events.length, 1))
  const { cursor: _, ...change } = stream.events[0]?.data.data.productChanges ?? {}
  assert.deepEqual(change, {
    type: 'product.created',
    at: data[0].at,
    version: 1,
    product: { id: String(product.id), name: 'Desk Lamp', price: 19.99 },
  })
})

test('the programs on the page are those of docs/examples/changes', () => {
  const names = { ts: ['copy.ts', 'follow.ts', 'receive.ts'], python: ['product_copy.py', 'follow.py', 'receive.py'] }
  for (const [language, files] of Object.entries(names)) {
    const programs = files.map((name) => read('examples', 'changes', name))
    assert.deepEqual(blocksOf(page, language).slice(0, programs.length), programs)
  }
})

test('the listener on the page is that of docs/extensions.md', () => {
  const [listener, ...rest] = blocksOf(page, 'ts').slice(3)
  assert.deepEqual(rest, [])
  assert.ok(blocksOf(read('extensions.md'), 'ts').includes(listener ?? ''))
})
