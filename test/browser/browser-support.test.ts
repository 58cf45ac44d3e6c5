/** Tests of openBrowser: it records requests to other hosts, and errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { openBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'

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
  const { errors } = await visit(t, "default-src 'self'")
  await includes(errors, 'Content Security Policy')
})

test('every visit starts with an empty profile', async (t) => {
  for (let i = 0; i < 2; i++) {
    const { page } = await visit(t)
    await page.waitForFunction('document.title === "Visit 1"')
  }
})

/** The browser reports them with a delay. */
async function includes(errors: readonly string[], part: string): Promise<void> {
  await eventually(() => assert.ok(errors.join('\n').includes(part), errors.join('\n')))
}

async function visit(t: Parameters<typeof openBrowser>[0], policy = '') {
  const { url } = await startApi(t, {
    extend(app) {
      app.get('/misbehaving', { config: { access: 'public', docs: false } }, async (_request, reply) =>
        reply.header('content-security-policy', policy).type('text/html').send(misbehaving),
      )
    },
  })
  return openBrowser(t, { url, path: '/misbehaving' })
}
