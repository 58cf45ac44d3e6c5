/** Every example of docs/machines.md runs. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { blocksOf } from '../support/docs.ts'
import { makeKey } from '../support/keys.ts'
import { signIn } from '../support/people.ts'

const page = readFileSync(join(root, 'docs', 'machines.md'), 'utf8')
const run = promisify(execFile)

test('the commands on the page run, one after the other, and answer what it says', async (t) => {
  const api = await startApi(t)
  const script = blocksOf(page, 'sh').join('\n')
  const { stdout } = await run('sh', ['-e', '-c', script], { env: { PATH: process.env.PATH ?? '', BASE: api.url } })
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const [registered, product, me, again, keys, ended, dead, ...rest] = answers
  assert.equal(registered.data.email, 'robot@example.com')
  assert.equal(product.data.attributes.name, 'Desk Lamp')
  assert.deepEqual([me.email, me.roles, again], ['robot@example.com', [], me])
  const [shown] = blocksOf(page, 'json').map((block) => JSON.parse(block))
  const first = keys.data.find(({ name }: { name: string }) => name === shown.name)
  assert.equal(keys.data.length, 2)
  assert.deepEqual(Object.keys(first), Object.keys(shown))
  assert.deepEqual([first.permissions, first.expires_at], [shown.permissions, shown.expires_at])
  assert.deepEqual([ended, dead, rest], [204, { error: 'Invalid access token' }, []])
})

test('the code on the page is that of docs/examples/products-client.ts, and does what it says', async (t) => {
  const file = join(root, 'docs', 'examples', 'products-client.ts')
  for (const block of blocksOf(page, 'ts')) assert.ok(readFileSync(file, 'utf8').includes(block), block)
  const config = createConfig(t, { products: 'products { write_permission = "products.write" }' })
  const api = await startApi(t, { config })
  const user = await signIn(api)
  const good = await makeKey(api, user.access)
  const program = `import(${JSON.stringify(file)}).then(async ({ call, addLamp }) => {
    console.log(JSON.stringify(await call('GET', '/api/auth/me')))
    await addLamp()
  })`
  const started = (LATCHKEY_KEY: string, LATCHKEY_URL = api.url) =>
    run(process.execPath, ['-e', program], { env: { LATCHKEY_URL, LATCHKEY_KEY } })
  await assert.rejects(started(good.key), /the key, or its owner, may not POST/)
  await assert.rejects(started(`${good.key.slice(0, -1)}-`), /the key is unknown, ended or expired/)
  const open = await startApi(t)
  const { key } = await makeKey(open, (await signIn(open)).access)
  await started(key, open.url)
  assert.equal((await open.get('/api/v2/products')).body.meta.total, 1)
})

test('the step of the workflow adds a product', async (t) => {
  const api = await startApi(t)
  const user = await signIn(api)
  const { key } = await makeKey(api, user.access)
  const [workflow = ''] = blocksOf(page, 'yaml')
  const [, step = ''] = workflow.split('run: |\n')
  const env = { PATH: process.env.PATH ?? '', LATCHKEY_URL: api.url, LATCHKEY_KEY: key }
  const { stdout } = await run('sh', ['-e', '-c', step], { env })
  assert.equal(JSON.parse(stdout).data.attributes.price, 19.99)
})
