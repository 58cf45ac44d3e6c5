/** A low limit of open files. When it is reached, nothing can say so, so it is told of before. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createDatabaseUrl } from '../support/databases.ts'
import { findingOf, good } from '../support/doctor.ts'
import { eventually } from '../support/eventually.ts'
import { collect, environment } from '../support/process.ts'

const program = join(root, 'bin', 'latchkey')
const warning =
  /only 300 files may be open, and each connection is one; .*: raise LimitNOFILE, or \\?"ulimit -n\\?", to 1024 at least/

function spawnLimited(t: TestContext, command: string, env: Record<string, string>) {
  const child = spawn('/bin/sh', ['-c', `ulimit -n 300 && exec "$0" ${command}`, program], { env: environment(env) })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('doctor warns of a low limit, and finds an ordinary one fine', async (t) => {
  const env = { ...good, DATABASE_URL: await createDatabaseUrl(t, 'sqlite') }
  const { stdout } = await collect(spawnLimited(t, 'doctor', env))
  assert.match(stdout.split('\n').find((line) => line.startsWith('warning  only')) ?? stdout, warning)
  assert.match((await findingOf('open_files', env)).join(' '), /^ok (\d+|Infinity) files may be open$/)
})

test('the start logs a warning of a low limit', async (t) => {
  const env = {
    DATABASE_URL: await createDatabaseUrl(t, 'sqlite'),
    ...{ HOST: '127.0.0.1', PORT: '0', GQL_WS_HOST: '127.0.0.1', GQL_WS_PORT: '0', THREADS: '1' },
  }
  const child = spawnLimited(t, 'start', env)
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  await eventually(() => assert.match(output, /Latchkey is listening/))
  const lines = output.split('\n').filter((line) => warning.test(line))
  assert.deepEqual([lines.length, JSON.parse(lines[0] ?? '{}').level], [1, 'warn'])
})
