/**
 * The first five minutes of a newcomer, who reads nothing but what the screen says: from a clone with nothing installed to an
 * administrator, and to a product that a program makes with an API key while the console shows the list.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openBrowser } from '../support/browser.ts'
import { fill, isClean, press, sees, tells } from '../support/console-steps.ts'
import { password } from '../support/people.ts'
import { getProgram } from '../support/programs.ts'
import { createProject } from '../support/project.ts'
import { readTerminal, setUpLinkOn, terminalArgs } from '../support/terminal.ts'

test('from a clone to a product made with an API key, seen live in the console', { timeout: 300_000 }, async (t) => {
  const project = createProject(t)
  const env = { PORT: '0', GQL_WS_PORT: '0' }
  const terminal = await readTerminal(
    project.start(getProgram('script'), terminalArgs(project.file('bin/latchkey')), env),
  )
  const { origin, pathname, search } = new URL(setUpLinkOn(terminal))
  const visit = await openBrowser(t, { url: origin, path: pathname + search })
  const { page } = visit

  await sees(page, 'Set up Latchkey')
  await fill(page, { Email: 'root@example.com', Name: 'Root', Password: password })
  await press(page, 'Make the administrator')
  await sees(page, 'Welcome')
  await page.getByRole('link', { name: 'Make an API key' }).click()
  await sees(page, 'New API key')
  await fill(page, { Name: 'First steps' })
  await press(page, 'Make the key')
  await sees(page, 'Your API key')
  const command = await page.locator('#key-command').innerText()

  const [list] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'list of products' }).click(),
  ])
  await sees(list, 'Products')
  await tells(list, 'Live')
  assert.equal(await list.getByText('My first product').count(), 0)
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  assert.equal(JSON.parse(stdout).data.attributes.name, 'My first product')
  await list.getByRole('link', { name: 'My first product' }).waitFor()
  isClean(visit)
  await terminal.stop()
})
