/** A service whose standard output cannot be written. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createDatabaseUrl } from '../support/databases.ts'
import { freePort, isReachable, waitUntil } from '../support/servers.ts'
import { isFull } from '../support/tiers.ts'

async function start(t: TestContext, output: 'pipe' | number) {
  const port = await freePort()
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: await createDatabaseUrl(t, 'sqlite'),
    HOST: '127.0.0.1',
    PORT: String(port),
    GQL_WS_PORT: '0',
    THREADS: isFull ? '2' : '1',
    // As in process.ts: a busy machine must not shed load.
    MAX_EVENT_LOOP_DELAY_MS: '0',
  }
  const child = spawn(join(root, 'bin', 'latchkey'), ['start'], { env, stdio: ['ignore', output, 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  // Nothing else tells: its output goes nowhere.
  await waitUntil(() => isReachable(port), 'the service')
  return { child, url: `http://127.0.0.1:${port}/api/v2/products` }
}

/** Each request is a line of the log. */
async function assertServes(url: string): Promise<void> {
  for (let i = 0; i < 20; i++) assert.equal((await fetch(url)).status, 200)
}

test('on a full disk the service goes on without its log, and stops as usual', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const { child, url } = await start(t, full)
  await assertServes(url)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('when the reader of its log is gone, the service goes on, and stops as usual', async (t) => {
  const { child, url } = await start(t, 'pipe')
  assert.ok(child.stdout)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await assertServes(url)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
