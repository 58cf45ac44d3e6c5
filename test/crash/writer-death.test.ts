/** The thread that writes the SQLite file dies. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabaseUrl } from '../support/databases.ts'
import { startProcess } from '../support/process.ts'
import { chosen } from '../support/tiers.ts'

const preload = join(import.meta.dirname, '..', 'support', 'dying-writer.mjs')

for (const threads of chosen(['1', '2'], (count) => count === '1')) {
  test(`the process says so and ends, for a supervisor to start it again, with THREADS=${threads}`, async (t) => {
    const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), THREADS: threads }
    const service = await startProcess(t, { env: { ...env, NODE_OPTIONS: `--import=${preload}` } })
    service.child.kill('SIGUSR2')
    const { code } = await service.ended
    assert.equal(code, 70)
    assert.match(service.output(), /"fatal".*the thread that writes the database died/)
    const again = await startProcess(t, { env })
    assert.equal((await fetch(`${again.url}/health/ready`)).status, 200)
  })
}
