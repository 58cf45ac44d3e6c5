/** Tests of openBrowser, which records requests to other hosts and errors, and of what looks for barriers on a page. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { shareApi } from '../support/api.ts'
import { findBarriers } from '../support/axe.ts'
import { openBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'

const policies = { '/misbehaving': '', '/refused': "default-src 'self'" }

// The discard port of this machine: another host for the page, where nothing listens.
const elsewhere = '127.0.0.2:9'
const misbehaving = `<!doctype html><title>Misbehaving</title><link rel="icon" href="data:,"><p>Loaded</p>
<script src="http://${elsewhere}/tracker.js"></script>
<script>
new WebSocket('ws://${elsewhere}/socket').onerror = () => {
  localStorage.visits = Number(localStorage.visits ?? 0) + 1
  document.title = 'Visit ' + localStorage.visits
  console.error('told to the console')
  throw new Error('thrown by the page')
}
</script>`

test('requests and sockets to other hosts, errors of the console and of scripts are recorded', async (t) => {
  const { page, strays, errors } = await visit(t)
  await page.waitForFunction('document.title === "Visit 1"')
  assert.deepEqual(strays, [`http://${elsewhere}/tracker.js`, `ws://${elsewhere}/socket`])
  for (const part of ['told to the console', 'thrown by the page']) await includes(errors, part)
})

test('a violation of the content security policy is an error', async (t) => {
  const { errors } = await visit(t, '/refused')
  await includes(errors, 'Content Security Policy')
})

test('every visit starts with an empty profile', async (t) => {
  for (let i = 0; i < 2; i++) {
    const { page } = await visit(t)
    await page.waitForFunction('document.title === "Visit 1"')
  }
})

const faint = `<!doctype html><html lang="en"><title>Faint</title><style>
  body { background: #fff; color: #000 }
  .faint { color: #ccc } .dim { background: #333 } .veil { opacity: 0.2 } .small { color: #888 } .large { font-size: 2em }
  @media (prefers-color-scheme: dark) { body { background: #000; color: #fff } .faint { color: #333 } .night { color: #222 } }
</style><main><h1>Faint</h1><p hidden>Hidden <i class="faint">faint</i></p>
<table>${'<tr><td>Black</td><td>on white</td></tr>'.repeat(20)}
<tr><td>One</td><td class="faint" id="colour">of many</td></tr>
<tr class="dim"><td id="background">Black</td></tr>
<tr class="veil"><td id="opacity">Black</td></tr>
${'<tr><td>Black</td><td>on white</td></tr>'.repeat(20)}</table>
<p class="small large">Large enough</p><p class="small" id="size">Too small</p>
<p>Readable, <a href="/" class="faint" id="inside">not so this</a></p>
<label>Name <input class="faint" id="field" value="Ada"></label><p class="night" id="night">By day</p></main>`

test('text that is hard to read is found among others, in the colours of each scheme', async (t) => {
  const { page } = await visit(t)
  await page.setContent(faint)
  const found = async (runOnly?: ['color-contrast']) =>
    (await findBarriers(page, runOnly)).map((line) => `${line.split(':')[0]} ${/id="(\w+)"/.exec(line)?.[1]}`).sort()
  const byDay = ['background', 'colour', 'field', 'inside', 'opacity', 'size'].map((id) => `color-contrast ${id}`)
  assert.deepEqual(await found(['color-contrast']), byDay)
  assert.deepEqual(await found(), byDay)
  await page.emulateMedia({ colorScheme: 'dark' })
  const byNight = ['colour', 'inside', 'night', 'opacity'].map((id) => `color-contrast ${id}`)
  assert.deepEqual(await found(['color-contrast']), byNight)
  await page.evaluate('document.title = ""')
  assert.deepEqual(await found(), [...byNight, 'document-title undefined'])
})

/** The browser reports them with a delay. */
async function includes(errors: readonly string[], part: string): Promise<void> {
  await eventually(() => assert.ok(errors.join('\n').includes(part), errors.join('\n')))
}

const shared = shareApi({
  extend(app) {
    for (const [path, policy] of Object.entries(policies))
      app.get(path, { config: { access: 'public', docs: false } }, async (_request, reply) =>
        reply.header('content-security-policy', policy).type('text/html').send(misbehaving),
      )
  },
})

async function visit(t: TestContext, path: keyof typeof policies = '/misbehaving') {
  const { url } = await shared()
  return openBrowser(t, { url, path })
}
