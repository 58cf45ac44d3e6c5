import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { createDatabaseUrl, onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { password } from '../support/people.ts'
import { startProcess } from '../support/process.ts'
import { loggedPath } from '../support/set-up.ts'

const form = '/console/setup'
const administrator = { email: 'root@example.com', name: 'Root', password }

onAnyEngine('setup', (engine) => {
  test('prints a link in place of the one in the log, until there is an administrator', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine)
    const api = await startApi(t, { engine, env: { DATABASE_URL } })
    const logged = await loggedPath(api)
    const run = (env: Record<string, string> = {}) => runLoaded(['setup'], { env: { DATABASE_URL, ...env } })

    const printed = await run({ PORT: '3210' })
    assert.deepEqual([printed.code, printed.stderr], [0, ''])
    assert.match(printed.stdout, /^http:\/\/localhost:3210\/console\/setup\?token=[\w-]{43}\n$/)
    const outside = await run({ PUBLIC_URL: 'https://app.example.com' })
    assert.ok(outside.stdout.startsWith('https://app.example.com/console/setup?token='))
    const unknown = await run({ PORT: '0' })
    assert.equal(unknown.code, 64)
    assert.match(unknown.stderr, /^latchkey: .*PUBLIC_URL\n$/)

    const browser = openConsole(api)
    for (const old of [logged, pathOf(printed.stdout)]) assert.equal((await browser.open(old)).status, 410)
    assert.equal((await browser.open(pathOf(outside.stdout))).status, 200)
    assert.equal((await browser.submit(form, administrator)).status, 303)

    const late = await run()
    assert.deepEqual([late.code, late.stdout], [1, ''])
    assert.match(late.stderr, /^latchkey: there is an administrator already[^\n]*\n$/)
  })
})

test('without a terminal, the log alone has the link', async (t) => {
  const DATABASE_URL = await createDatabaseUrl(t, 'sqlite')
  const { child, ended, output } = await startProcess(t, { env: { DATABASE_URL, THREADS: '2' } })
  await eventually(() => assert.match(output(), /setupUrl/))
  child.kill('SIGTERM')
  const { stdout } = await ended
  const lines = stdout.trim().split('\n')
  assert.equal(lines.filter((line) => line.includes('/console/setup?token=')).length, 1)
  for (const line of lines) JSON.parse(line)
})

function pathOf(printed: string): string {
  const { pathname, search } = new URL(printed.trim())
  return `${pathname}${search}`
}
