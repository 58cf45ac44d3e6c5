/** Pages of other sites that send forms to the console, in a signed-in browser. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, isIPv4 } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { share, unlimitedRates } from '../support/api.ts'
import { openBrowser } from '../support/browser.ts'
import { openConsole } from '../support/console.ts'
import { enter, sees } from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { startApiWithActions } from '../support/form-actions.ts'
import { password, register } from '../support/people.ts'
import { createProduct } from '../support/products.ts'
import { chosen } from '../support/tiers.ts'

/**
 * For a browser another port is another origin of the same site, so cookies are sent; another host name is another
 * site.
 */
const hosts = { 'another site': 'localhost', 'another port': '127.0.0.1' } as const

for (const [where, host] of Object.entries(hosts)) {
  test(`a form of ${where} changes nothing, whatever route it is sent to`, async (t) => {
    const { api, page, evil } = await start(t, host)
    const stranger = openConsole(api)
    const theirs = (await stranger.open('/console/register')).hidden('/console/register')
    const before = await api.dump()
    await page.goto(evil.url)
    // That each of them asks for a token is for test/api/console-csrf.test.ts.
    for (const action of chosen(api.actions, (_, index) => index % 16 === 0)) {
      for (const [how, fields] of Object.entries({ 'no token': {}, 'a token of their own': theirs })) {
        const { status, cookie } = await send(page, { url: api.url + action, fields })
        const isRefused = status === 403 || cookie?.startsWith('latchkey_notice=session-over')
        assert.ok(isRefused, `${action} with ${how}: ${status} ${cookie}`)
        assert.equal(page.url(), evil.url)
      }
    }
    assert.deepEqual(await api.dump(), before)
    await page.goto(`${api.url}/console/account`)
    await sees(page, 'Account')
  })
}

test('another origin can neither frame the console nor open its socket', async (t) => {
  const { api, page, evil } = await start(t, '127.0.0.1')
  const socket = `${api.url.replace('http', 'ws')}/console/live`
  evil.html = `<iframe src="${api.url}/console/products"></iframe><p>Waiting</p>
<script>const socket = new WebSocket('${socket}')
socket.onopen = () => { document.querySelector('p').textContent = 'Opened' }
socket.onclose = () => { document.querySelector('p').textContent = 'Closed' }</script>`
  await page.goto(evil.url)
  await page.getByText('Closed').waitFor()
  for (const frame of page.frames().slice(1)) {
    assert.equal(await frame.getByRole('heading', { name: 'Products' }).count(), 0)
  }
})

interface Evil {
  url: string
  /** The page that is there. */
  html: string
}

const shared = share((owner) => startApiWithActions(owner, { env: unlimitedRates }))

/** A signed-in administrator, and an attacking page. */
async function start(t: TestContext, host: string) {
  const api = await shared()
  const admin = await api.signInAs('admin')
  await register(api)
  await createProduct(api, admin.access)
  const { page } = await openBrowser(t, { url: api.url, path: '/console/products' })
  await enter(page, admin.email)
  await sees(page, 'Products')
  return { api, page, evil: await startEvil(t, host) }
}

async function startEvil(t: TestContext, host: string): Promise<Evil> {
  const evil: Evil = { url: '', html: '' }
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><link rel="icon" href="data:,">${evil.html}`)
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, isIPv4(host) ? host : undefined, resolve))
  evil.url = `http://${host}:${(server.address() as AddressInfo).port}/`
  return evil
}

interface Sent {
  url: string
  fields: Record<string, string>
}

interface Paused {
  requestId: string
  /** What the same request is called in the events of the network. */
  networkId?: string
  request: { method: string }
}

/** Unlike the event of a paused request, this one has the cookies. */
interface Received {
  requestId: string
  statusCode: number
  headers: Record<string, string>
}

/**
 * Sends a form from the page that is open. Returns the response of the console. The browser does not get it and stays
 * on the page, because showing each response would take most of the time.
 */
async function send(page: Page, { url, fields }: Sent) {
  const wanted = { email: 'eve@example.com', name: 'Eve', password, roles: 'admin', price: '1', description: 'x' }
  const inputs = Object.entries({ ...wanted, ...fields }).map(
    ([name, value]) => `<input name="${name}" value="${value}">`,
  )
  const form = `<form method="post" action="${url}">${inputs.join('')}</form>`
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Fetch.enable', { patterns: [{ urlPattern: url, requestStage: 'Response' }] })
  const received = new Map<string, Received>()
  session.on('Network.responseReceivedExtraInfo', (response: Received) => received.set(response.requestId, response))
  const [{ requestId, networkId, request }] = await Promise.all([
    new Promise<Paused>((resolve) => session.once('Fetch.requestPaused', resolve)),
    page.evaluate(`document.body.innerHTML = ${JSON.stringify(form)}; document.forms[0].submit()`),
  ])
  assert.equal(request.method, 'POST')
  const { statusCode, headers } = await eventually(
    () => received.get(networkId ?? '') ?? assert.fail('no response yet'),
  )
  await session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
  await session.detach()
  return { status: statusCode, cookie: headers['set-cookie'] }
}
