/** The playground in a browser. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page, WebSocket } from 'playwright-core'
import { share } from '../support/api.ts'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { testInFull } from '../support/test-in-full.ts'

const shared = share((owner) => startBrowsedApi(owner))

test('a query runs and its result is shown, and nothing is loaded from other hosts', async (t) => {
  const { page, strays, errors, createPost } = await openPlayground(t)
  await createPost('Shown in the browser')
  assert.equal(await page.title(), 'Latchkey')
  await run(page, '{ posts { id title } }')
  await shows(page, '"title": "Shown in the browser"')
  assert.deepEqual({ strays, errors }, { strays: [], errors: [] })
})

test('a subscription shows what a mutation publishes', async (t) => {
  const { page, strays, errors, createPost } = await openPlayground(t, { isAlone: true })
  await run(page, 'subscription { counter { count } }')
  // It is subscribed once the first value arrives.
  let created = 0
  await eventually(async () => {
    await createPost('Early')
    created++
    assert.match(await resultOf(page), /"count"/)
  })
  await createPost('Published')
  await shows(page, `"count": ${created + 1}`)
  assert.deepEqual({ strays, errors }, { strays: [], errors: [] })
})

testInFull('the first operations are those of the start page', async (t) => {
  const { page, errors } = await openPlayground(t, { isAlone: true })
  await execute(page)
  const operations = page.getByRole('menuitem')
  await operations.first().waitFor()
  assert.deepEqual(await operations.allInnerTexts(), ['Posts', 'CreatePost', 'Counter'])
  await operations.filter({ hasText: 'CreatePost' }).click()
  await shows(page, '"createPost": 1')
  assert.deepEqual(errors, [])
})

test('the page stays within its content security policy', async (t) => {
  const { page, strays, errors } = await openPlayground(t)
  for (const name of ['Show Documentation Explorer', 'Show History', 'Re-fetch GraphQL schema']) {
    await page.getByRole('button', { name }).click()
  }
  for (const name of ['Open short keys dialog', 'Open settings dialog']) {
    await page.getByRole('button', { name }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  }
  assert.deepEqual({ strays, errors }, { strays: [], errors: [] })
})

testInFull('headers are sent with requests and on the socket, and are not stored in the browser', async (t) => {
  const { page, sent, api } = await openPlayground(t)
  const { access: token } = await signIn(api)
  await page.getByRole('button', { name: 'Headers' }).click()
  await write(page, 'Headers', JSON.stringify({ Authorization: `Bearer ${token}` }))
  await run(page, 'query Me { me { email } }')
  await shows(page, '"email": "')
  await run(page, 'subscription Counter { counter { count } }')
  await page.getByRole('button', { name: 'Stop query' }).waitFor()
  const first = await eventually(() => sent[0] ?? assert.fail('nothing was sent'))
  assert.deepEqual(JSON.parse(first), {
    type: 'connection_init',
    payload: { Authorization: `Bearer ${token}` },
  })
  const kept = String(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })'))
  assert.match(kept, /counter/)
  assert.ok(!kept.includes(token))
})

testInFull('an invalid token is reported at once, by requests and by the socket', async (t) => {
  const { page } = await openPlayground(t)
  await page.getByRole('button', { name: 'Headers' }).click()
  await write(page, 'Headers', '{ "authorization": "Bearer expired" }')
  await run(page, 'query Me { me { email } }')
  await shows(page, '"message": "Invalid access token"')
  await run(page, 'subscription Counter { counter { count } }')
  await shows(page, '"message": "Socket closed: 4403 Forbidden"')
})

testInFull('a subscription that ends or is stopped leaves no socket open', async (t) => {
  const { page, sockets, createPost } = await openPlayground(t)
  await run(page, 'subscription Counter { counter { nothing } }')
  await shows(page, 'Cannot query field')
  await run(page, 'subscription Again { counter { count } }')
  await page.getByRole('button', { name: 'Stop query' }).click()
  await page.getByRole('button', { name: 'Execute query' }).waitFor()
  await createPost('Unheard')
  await eventually(() => assert.equal(sockets.length, 2))
  await eventually(() => assert.ok(sockets.every((socket) => socket.isClosed())))
})

async function openPlayground(t: TestContext, { isAlone = false } = {}) {
  const api = await (isAlone ? startBrowsedApi(t) : shared())
  const visit = await openBrowser(t, { url: api.url, path: '/graphiql' })
  const sockets: WebSocket[] = []
  const sent: string[] = []
  visit.page.on('websocket', (socket) => {
    sockets.push(socket)
    socket.on('framesent', ({ payload }) => void sent.push(String(payload)))
  })
  const query = 'mutation ($title: String!) { createPost(title: $title, body: "") }'
  return {
    ...visit,
    api,
    sockets,
    /** What the page sent over them. */
    sent,
    createPost: (title: string) => api.post('/graphql', { query, variables: { title } }),
  }
}

/** Replaces the text of an editor. */
async function write(page: Page, editor: string, text: string): Promise<void> {
  await page.getByRole('region', { name: editor }).locator('.CodeMirror:visible').click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.insertText(text)
}

async function run(page: Page, query: string): Promise<void> {
  await write(page, 'Query Editor', query)
  // The page parses shortly after the last key; by then the tab shows the operation name.
  const [, name = '<untitled>'] = /^\w+ (\w+)/.exec(query) ?? []
  await page.locator('.graphiql-tab-button[aria-current="true"]', { hasText: name }).waitFor()
  await execute(page)
}

async function execute(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Execute query' }).click()
}

function resultOf(page: Page): Promise<string> {
  return page.getByRole('region', { name: 'Result Window' }).innerText()
}

async function shows(page: Page, text: string): Promise<void> {
  await page.getByRole('region', { name: 'Result Window' }).getByText(text).waitFor()
}
