/** What `latchkey start` prints on a terminal, which script(1) provides. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { collect } from '../support/process.ts'
import { getProgram } from '../support/programs.ts'

test('on a terminal, start prints where everything is and the set-up link', async (t) => {
  const { text, stop } = await startOnTerminal(t)
  const [, address] = /Console {2}(\S+)\/console\s/.exec(text) ?? assert.fail(text)
  assert.match(address ?? '', /^http:\/\/localhost:\d+$/)
  assert.ok(text.includes(`API      ${address}/docs`), text)
  assert.ok(text.includes(`GraphQL  ${address}/graphiql`), text)
  const [, link = ''] = /Set-up {3}(\S+) {2}\(works once, for 30 minutes\)/.exec(text) ?? assert.fail(text)
  assert.ok(link.startsWith(`${address}/console/setup?token=`))
  assert.equal((await fetch(link)).status, 200)
  await stop()
})

test('in production it leaves out what is not served', async (t) => {
  const { text, stop } = await startOnTerminal(t, {
    NODE_ENV: 'production',
    JWT_SECRET: 'a secret that only the tests know and use',
    PUBLIC_URL: 'https://app.example.com',
  })
  assert.ok(text.includes('Console  https://app.example.com/console'), text)
  assert.ok(!text.includes('graphiql'), text)
  await stop()
})

/** Resolves when the set-up link is printed below the log. */
async function startOnTerminal(t: TestContext, env: Record<string, string> = {}) {
  const child = spawn(getProgram('script'), ['-qec', `"${join(root, 'bin', 'latchkey')}" start`, '/dev/null'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      HOST: '0.0.0.0',
      PORT: '0',
      GQL_WS_PORT: '0',
      DATABASE_URL: `file:${join(temporaryFolder(t), 'test.db')}`,
      ...env,
    },
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = collect(child)
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await eventually(() => assert.match(text, /works once, for 30 minutes\)/))
  return {
    text: text.replaceAll('\r', ''),
    async stop() {
      child.stdin.write('\u0003')
      const { stdout } = await ended
      assert.match(stdout, /stopped/)
    },
  }
}
