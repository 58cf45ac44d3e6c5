/** What `latchkey start` prints on a terminal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUpLinkOn, startOnTerminal } from '../support/terminal.ts'

test('on a terminal, start prints where everything is and the set-up link', async (t) => {
  const terminal = await startOnTerminal(t)
  const { text } = terminal
  const [, address] = /Console {2}(\S+)\/console\s/.exec(text) ?? assert.fail(text)
  assert.match(address ?? '', /^http:\/\/localhost:\d+$/)
  assert.ok(text.includes(`API      ${address}/docs`), text)
  assert.ok(text.includes(`GraphQL  ${address}/graphiql`), text)
  const link = setUpLinkOn(terminal)
  assert.ok(link.startsWith(`${address}/console/setup?token=`))
  assert.equal((await fetch(link)).status, 200)
  await terminal.stop()
})

test('in production it leaves out what is not served', async (t) => {
  const { text, stop } = await startOnTerminal(t, {
    NODE_ENV: 'production',
    JWT_SECRET: 'a secret that only the tests know and use',
    PUBLIC_URL: 'https://app.example.com',
    THREADS: '1',
  })
  assert.ok(text.includes('Console  https://app.example.com/console'), text)
  assert.ok(!text.includes('graphiql'), text)
  await stop()
})
