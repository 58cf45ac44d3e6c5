/** `npm run dev`: the sources, started again whenever one of them changes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createClient } from '../../src/testing/client.ts'
import { cpuSecondsOf } from '../support/cpu-times.ts'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { environment } from '../support/process.ts'
import { childrenOf } from '../support/process-tree.ts'
import { registerProcess } from '../support/run-folder.ts'
import { isFull } from '../support/tiers.ts'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** The last command of `npm run dev`, which Node runs. */
const [, variable = '', value = '', ...args] = / (\w+)=(\S+) node (\S+)$/.exec(scripts.dev) ?? []
const extension = (greeting: string) => `import { defineFeature } from 'latchkey/feature'
import { name } from './name.ts'
export default defineFeature({
  name: 'greeting',
  create: () => ({}),
  routes: () => (app) => void app.get('/greeting', { config: { access: 'public', docs: false } }, () => ({ greeting: '${greeting}, ' + name })),
})
`

test('serves with all its threads, and again as soon as a file of an extension has changed', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'greeting.ts')
  const other = join(folder, 'name.ts')
  writeFileSync(file, extension('Hello'))
  writeFileSync(other, "export const name = 'Ada'\n")
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: environment({
      [variable]: value,
      HOST: '127.0.0.1',
      PORT: '0',
      GQL_WS_PORT: '0',
      THREADS: isFull ? '2' : '1',
      MAX_EVENT_LOOP_DELAY_MS: '0',
      DATABASE_URL: `file:${join(folder, 'test.db')}`,
      JWT_SECRET: 'x'.repeat(32),
      BCRYPT_COST: '4',
      LATCHKEY_EXTENSIONS: file,
    }),
  })
  t.after(registerProcess(process.env.TEST_RUN_FOLDER ?? folder, child.pid as number))
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const listening = (times: number) =>
    eventually(() => {
      const urls = [...output.matchAll(/"url":"([^"]+)".*is listening/g)]
      return urls[times - 1]?.[1] ?? assert.fail(output)
    })

  const client = createClient(await listening(1))
  assert.deepEqual((await client.get('/greeting')).body, { greeting: 'Hello, Ada' })
  // Hashed in a thread of a library, written in one of SQLite.
  const person = { name: 'Ada', email: 'ada@example.com', password: 'Correct-horse-9' }
  assert.equal((await client.post('/api/auth/register', person)).status, 201)

  // It waits for whoever broke it to mend it.
  writeFileSync(file, 'export default {')
  await eventually(() => assert.match(output, /ended with code 78; it starts again when a file changes/))
  writeFileSync(file, extension('Good morning'))
  const mended = createClient(await listening(2))
  assert.deepEqual((await mended.get('/greeting')).body, { greeting: 'Good morning, Ada' })
  assert.equal((await mended.post('/api/auth/login', person)).status, 200)

  // The next process has loaded this one, too, before it changes.
  let before = 0
  await eventually(() => {
    const [, next] = childrenOf(child.pid as number)
    const now = next === undefined ? 0 : cpuSecondsOf(next)
    const isPrepared = now > 0 && now === before
    before = now
    assert.ok(isPrepared)
  })
  writeFileSync(other, "export const name = 'Grace'\n")
  const changed = createClient(await listening(3))
  assert.deepEqual((await changed.get('/greeting')).body, { greeting: 'Good morning, Grace' })
  assert.equal(output.match(/ended with code/g)?.length, 1, 'the first one was stopped')
})
