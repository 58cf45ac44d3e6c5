/** Every example of docs/graphql.md runs. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import likes from '../../docs/examples/likes.ts'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { blocksOf } from '../support/docs.ts'
import { signIn } from '../support/people.ts'
import { openSocket } from '../support/sockets.ts'

const page = readFileSync(join(root, 'docs', 'graphql.md'), 'utf8')

test('the commands on the page run, one after another, and print what it says', async (t) => {
  const api = await startApi(t)
  const env = { PATH: process.env.PATH ?? '', BASE: api.url }
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', blocksOf(page, 'sh').join('\n')], { env })
  const responses = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const [created, posts, post, byGet, , me, mug, anonymous, refused] = responses
  assert.deepEqual(created, { data: { createPost: 1 } })
  assert.deepEqual(posts, { data: { posts: [{ id: '1', title: 'Hello', body: 'World' }] } })
  assert.deepEqual(post, { data: { post: { title: 'Hello' } } })
  assert.deepEqual(byGet, { data: { posts: [{ id: '1' }] } })
  assert.deepEqual(me, { data: { me: { email: 'grace@example.com', roles: [] } } })
  assert.deepEqual(mug, { data: { createProduct: { id: '1', formattedPrice: '$9.99' } } })
  assert.equal(anonymous.errors[0].extensions.code, 'UNAUTHENTICATED')
  const [told = ''] = blocksOf(page, 'json')
  assert.deepEqual(refused, JSON.parse(told))
  assert.equal(responses.length, 9)
})

test('the element on the page is that of docs/examples/likes.ts, and does what it says', async (t) => {
  const [code] = blocksOf(page, 'ts')
  assert.equal(code, readFileSync(join(root, 'docs', 'examples', 'likes.ts'), 'utf8'))

  const api = await startApi(t, { extensions: [likes] })
  const { access } = await signIn(api)
  const ask = async (query: string, token?: string) => (await api.post('/graphql', { query }, token)).body
  const socket = await openSocket(t, api.wsUrl)
  socket.send({ query: 'subscription { liked(post: 7) { count } }' })
  // Messages are handled in order: by this response the subscription exists.
  socket.send({ query: '{ likes(post: 7) { count isPopular } }' })
  assert.deepEqual(await socket.next(), { data: { likes: { count: 0, isPopular: false } } })
  assert.equal((await ask('mutation { like(post: 7) { count } }')).errors[0].extensions.code, 'UNAUTHENTICATED')
  await ask('mutation { like(post: 8) { count } }', access)
  assert.deepEqual(await ask('mutation { like(post: 7) { count } }', access), { data: { like: { count: 1 } } })
  assert.deepEqual(await socket.next(), { data: { liked: { count: 1 } } })
})

test('the table of limits matches the keys and defaults of the configuration', () => {
  const file = readFileSync(join(root, 'config', 'graphql.mlc'), 'utf8')
  for (const [, key = '', value = ''] of file.matchAll(/^ {4}(\w+) = (\d+)\b/gm)) {
    if (key !== 'port') assert.ok(page.includes(key) && page.includes(value), `${key} = ${value}`)
  }
})
