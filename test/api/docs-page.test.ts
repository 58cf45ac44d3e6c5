/** The page at /docs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { docsFiles } from '../../src/platform/openapi/openapi.routes.ts'
import { share, startApi } from '../support/api.ts'
import { startDescribedApi } from '../support/openapi-document.ts'

/** For tests that only read. */
const shared = share((owner) => startDescribedApi(owner))

test('the page is HTML with a policy of its own, and its stylesheet is CSS', async () => {
  const api = await shared()
  const page = await api.get('/docs')
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = page.headers.get('content-security-policy') ?? ''
  for (const rule of [
    "default-src 'none'",
    "script-src 'self';",
    "style-src 'self';",
    "connect-src 'self';",
    "frame-ancestors 'none'",
  ])
    assert.ok(policy.includes(rule), rule)
  assert.ok(!/unsafe|https?:|\*/.test(policy))
  for (const [name, type] of Object.entries(docsFiles)) {
    const file = await api.get(`/docs/${name}`)
    assert.deepEqual([file.status, file.headers.get('content-type')], [200, type])
    assert.ok(!/url\(|@import|https?:|#[0-9a-f]{3}/.test(file.body), 'nothing of other hosts, no colour of its own')
  }
})

test('the page and the description are sent once: with their ETag, the answer is 304', async () => {
  const api = await shared()
  for (const path of ['/docs', '/openapi.json']) {
    const { headers } = await api.get(path)
    const etag = headers.get('etag') ?? ''
    assert.match(etag, /^"[\w+-]{22,}"$/)
    const again = await api.request('GET', path, { headers: { 'if-none-match': etag } })
    assert.deepEqual([again.status, again.body], [304, ''])
  }
})

test("pages outside of the console have the theme that was chosen in it, and the system's without one", async (t) => {
  const api = await shared()
  const secure = await startApi(t, { env: { PUBLIC_URL: 'https://shop.example.com' } })
  const themeAt = async ({ request }: Pick<typeof api, 'request'>, path: string, cookie: string) => {
    const { body, headers } = await request('GET', path, { headers: { cookie } })
    assert.match(headers.get('vary') ?? '', /\bcookie\b/)
    return /<html [^>]*data-theme="(\w+)"|<body class="graphiql-(\w+)">/.exec(body)?.slice(1).find(Boolean) ?? 'system'
  }
  for (const path of ['/', '/docs', '/graphiql']) {
    assert.equal(await themeAt(api, path, 'latchkey_appearance=dark%20compact'), 'dark', path)
    assert.equal(await themeAt(api, path, 'a=b; latchkey_appearance=light%20comfortable'), 'light', path)
    for (const cookie of ['', 'latchkey_appearance=%22%3E', 'latchkey_appearance=system%20compact'])
      assert.equal(await themeAt(api, path, cookie), 'system', path)
    assert.equal(await themeAt(secure, path, '__Host-latchkey_appearance=dark%20compact'), 'dark', path)
    assert.equal(await themeAt(secure, path, 'latchkey_appearance=dark%20compact'), 'system', 'of another host')
  }
})

test('every endpoint is on the page, and every link of the page leads somewhere', async () => {
  const api = await shared()
  const { body: page } = (await api.get('/docs')) as { body: string }
  const unbroken = page.replaceAll('<wbr>', '')
  for (const { name, path, operation } of api.operations) {
    assert.ok(unbroken.includes(`<code>${path}</code>`), name)
    assert.ok(page.includes(`<article id="${operation.operationId}"`), name)
  }
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  assert.equal(new Set(ids).size, ids.length)
  for (const [, target = ''] of page.matchAll(/href="([^"]+)"/g)) {
    if (target.startsWith('#')) assert.ok(ids.includes(target.slice(1)), target)
    else {
      // The console asks who is not signed in to do that.
      const expected = target === 'console' ? 303 : 200
      assert.equal((await api.get(new URL(target, `${api.url}/docs`).pathname)).status, expected, target)
    }
  }
})

test('the page runs its own script and loads nothing from elsewhere', async () => {
  const api = await shared()
  const { body: page } = (await api.get('/docs')) as { body: string }
  assert.ok(!/<script(?! src="docs\/page\.js")|<iframe|<object|<img(?! src="console\/assets\/)/i.test(page))
  assert.ok(!/ on\w+=| style=|javascript:/i.test(page))
  // URLs appear only in examples, as text.
  const markup = (page.match(/<[^>]+>/g) ?? []).join('\n')
  assert.ok(!/https?:|\/\/\w/.test(markup))
})

test('the documentation of a route is escaped on the page', async (t) => {
  const evil = '<script>alert(1)</script>"\'&'
  const api = await startDescribedApi(t, {
    extend(app) {
      const docs = { tag: evil, summary: evil, description: evil, responses: { 200: { description: evil } } }
      app.get('/evil', { config: { access: 'public', docs } }, async () => ({}))
    },
  })
  const { body: page } = (await api.get('/docs')) as { body: string }
  assert.ok(page.includes('&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;'))
  assert.ok(!page.includes('<script>') && !page.includes('alert(1)</'))
})
