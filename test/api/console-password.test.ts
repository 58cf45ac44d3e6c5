/** Forgotten passwords in the console: what the pages offer, and what they show for an expired link. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type Api, shareApi, startApi } from '../support/api.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { forEngines, onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { logIn, password, register, signIn } from '../support/people.ts'

const signInPath = '/console/sign-in'
const forgot = '/console/password/forgot'
const reset = '/console/password/reset'
const next = 'Another-Horse-2'

/** Of the messages that are logged instead of mailed. */
function tokensIn(api: Api): string[] {
  return [...api.log.join('').matchAll(/Reset token: ([\w-]{43})/g)].map(([, token = '']) => token)
}

async function enter(api: Api) {
  const user = await signIn(api)
  const before = tokensIn(api).length
  const tokenIn = (count = 1) =>
    eventually(() => {
      const tokens = tokensIn(api).slice(before)
      assert.equal(tokens.length, count)
      return tokens.at(-1) ?? ''
    })
  return { api, user, browser: openConsole(api), tokenIn, ask: () => api.post('/api/auth/password/forgot', user) }
}

async function start(t: TestContext, engine: Dialect, env: Record<string, string>) {
  return enter(await startApi(t, { engine, env: { RATE_LIMIT_RESET: '1000/60', ...env } }))
}

const services = forEngines((engine) => shareApi({ engine }))

onAnyEngine('a forgotten password', (engine) => {
  test('without a mail server in development: the page says that the message goes to the log, and links to the next step', async () => {
    const { api, user, browser, tokenIn } = await enter(await services[engine]())
    assert.match((await browser.open(signInPath)).html, new RegExp(`href="${forgot}"`))
    assert.match((await browser.open(forgot)).text, /No mail server is configured.*written to the log/)
    const sent = await browser.submit(forgot, { email: user.email })
    assert.deepEqual([sent.location, sent.notice], [reset, 'reset-logged'])
    const page = await browser.follow(sent)
    assert.match(page.text, /If that email is registered, the message is in the log of the service\./)
    const token = await tokenIn()
    assert.equal((await browser.submit(reset, { token: ` ${token} `, password: next })).status, 303)
    assert.equal((await logIn(api, user.email, next)).status, 200)
  })

  test('with a mail server: the page says that a link is sent', async (t) => {
    const env = { MAIL_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'us@example.com', PUBLIC_URL: 'http://127.0.0.1' }
    const { browser } = await start(t, engine, env)
    assert.match((await browser.open(signInPath)).html, new RegExp(`href="${forgot}"`))
    const page = await browser.open(forgot)
    assert.match(page.text, /We send a link to your email/)
    assert.doesNotMatch(page.text, /log/)
    const sent = await browser.submit(forgot, { email: 'nobody@example.com' })
    assert.deepEqual([sent.location, sent.notice], [signInPath, 'reset-sent'])
  })

  test('without a mail server in production: it is not offered, and the page says to ask an administrator', async (t) => {
    const { api, user, browser } = await start(t, engine, { NODE_ENV: 'production' })
    const form = await browser.open(signInPath)
    assert.doesNotMatch(form.html, /password\/forgot|Forgotten/)
    const page = await browser.open(forgot)
    assert.equal(page.status, 503)
    assert.match(page.text, /cannot send mail.* Ask an administrator/)
    assert.equal(page.hasForm(forgot), false)
    const token = form.hidden(signInPath)
    const posted = await browser.post(forgot, { ...token, email: user.email })
    assert.equal(posted.status, 503)
    assert.match(posted.text, /cannot send mail.* Ask an administrator/)
    for (const address of [reset, `${reset}?token=made-up`]) {
      assert.doesNotMatch((await browser.open(address)).html, /password\/forgot/)
    }
    assert.equal((await api.post('/api/auth/password/forgot', user)).status, 503)
  })
})

onAnyEngine('a link for a new password', (engine) => {
  const shared = services[engine]

  test('that is no longer valid is reported when it is opened, without the reason', async () => {
    const { api, user, browser, ask, tokenIn } = await enter(await shared())
    const over = new Set<string>()
    async function isOver(token: string) {
      const page = await browser.open(`${reset}?token=${token}`)
      assert.equal(page.status, 410)
      assert.match(page.text, /This link does not work\. It was used before.*Ask for another link/)
      assert.equal(page.hasForm(reset), false)
      over.add(page.html)
    }
    for (const token of ['made-up', 'x'.repeat(43), 'x'.repeat(4000), '%00', '%ff']) await isOver(token)

    await ask()
    const used = await tokenIn()
    for (let i = 0; i < 3; i++) {
      const page = await browser.open(`${reset}?token=${used}`)
      assert.deepEqual([page.status, page.hasForm(reset)], [200, true], 'looking at it uses nothing up')
    }
    assert.equal((await browser.submit(reset, { password: next })).status, 303)
    await isOver(used)

    await ask()
    const expired = await tokenIn(2)
    assert.equal((await browser.open(`${reset}?token=${expired}`)).status, 200)
    api.clock.advance(3601)
    await isOver(expired)

    await ask()
    const voided = await tokenIn(3)
    const { body } = await logIn(api, user.email, next)
    const change = { current_password: next, new_password: password }
    assert.equal((await api.post('/api/auth/password', change, body.access_token)).status, 200)
    await isOver(voided)
    assert.equal(over.size, 1, 'the same page for all')
  })

  test('that expired before the form was submitted is reported before anything else', async () => {
    const { browser, ask, tokenIn } = await enter(await shared())
    await ask()
    const token = await tokenIn()
    const form = await browser.open(`${reset}?token=${token}`)
    const send = (given: string): Promise<ConsolePage> =>
      browser.post(reset, { ...form.hidden(reset), password: given })
    const weak = await send('weak')
    assert.equal(weak.status, 422)
    assert.match(weak.text, /Must be at least 8 characters/)
    assert.equal(weak.hidden(reset).token, token)
    assert.equal((await send(next)).status, 303)
    for (const given of [next, 'weak', '']) {
      const page = await send(given)
      assert.equal(page.status, 410)
      assert.match(page.text, /This link does not work\. It was used before/)
      assert.equal(page.hasForm(reset), false)
    }
  })

  test('may be missing: the token can then be typed in', async () => {
    const { browser, ask, tokenIn } = await enter(await shared())
    const page = await browser.open(reset)
    assert.match(page.text, /Reset token Find it in the log of the service\. New password/)
    const blank = await browser.submit(reset, { token: ' ', password })
    assert.equal(blank.status, 422)
    assert.match(blank.text, /Reset token .*Must not be blank\./)
    const typo = await browser.submit(reset, { token: 'typo', password })
    assert.equal(typo.status, 410)
    assert.ok(typo.html.includes(`href="${reset}"`), 'to type it again')
    await ask()
    await browser.open(reset)
    assert.equal((await browser.submit(reset, { token: await tokenIn(), password: next })).status, 303)
  })

  test('does not reveal who is registered, and is rate limited', async (t) => {
    const { api, browser } = await start(t, engine, { RATE_LIMIT_RESET: '3/60' })
    await register(api, 'ada@example.com')
    const responses = []
    for (const email of ['ada@example.com', 'nobody@example.com']) {
      await browser.open(forgot)
      const { status, location, notice } = await browser.submit(forgot, { email })
      responses.push(JSON.stringify([status, location, notice]))
    }
    assert.equal(new Set(responses).size, 1)
    await browser.open(forgot)
    await browser.submit(forgot, { email: 'x@example.com' })
    assert.equal((await browser.open(`${reset}?token=${'x'.repeat(43)}`)).status, 429)
  })
})
