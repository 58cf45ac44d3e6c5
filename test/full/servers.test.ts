import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { isReachable } from '../support/servers.ts'

const support = join(import.meta.dirname, '..', 'support')
const script = `
  import { createRunFolder } from ${JSON.stringify(join(support, 'run-folder.ts'))}
  import { startServers } from ${JSON.stringify(join(support, 'servers.ts'))}
  const { path: folder } = createRunFolder()
  const servers = await startServers(folder, {})
  process.stdout.write(JSON.stringify({ ...servers, folder }) + '\\n')
  setInterval(() => {}, 1000)
`

if (engines.includes('postgres')) {
  describe('the private servers', { concurrency: true }, () => {
    for (const signal of ['SIGKILL', 'SIGINT', 'SIGTERM'] as const) {
      test(`are removed with their run, even if it ends with ${signal}`, async (t) => {
        const run = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        t.after(() => run.kill('SIGKILL'))
        const [line] = await once(run.stdout, 'data')
        const { databaseUrl, redisUrl, folder } = JSON.parse(String(line))
        const ports = [databaseUrl, redisUrl].map((url) => Number(new URL(url).port))
        for (const port of ports) assert.ok(await isReachable(port))

        run.kill(signal)
        await once(run, 'exit')
        await eventually(() => assert.equal(existsSync(folder), false))
        for (const port of ports) assert.equal(await isReachable(port), false)
      })
    }
  })
}
