/** The page at /docs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDescribedApi } from '../support/openapi-document.ts'

test('the page is HTML with a policy of its own, and its stylesheet is CSS', async (t) => {
  const api = await startDescribedApi(t)
  const page = await api.get('/docs')
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = page.headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none'", "style-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule))
  assert.ok(!policy.includes('unsafe') && !policy.includes('script-src'))
  const style = await api.get('/docs/style.css')
  assert.deepEqual([style.status, style.headers.get('content-type')], [200, 'text/css; charset=utf-8'])
  assert.match(style.body, /prefers-color-scheme: dark/)
  assert.ok(!/url\(|@import|https?:/.test(style.body))
})

test('every endpoint is on the page, and every link of the page leads somewhere', async (t) => {
  const api = await startDescribedApi(t)
  const { body: page } = (await api.get('/docs')) as { body: string }
  for (const { name, path, operation } of api.operations) {
    assert.ok(page.includes(`<code>${path}</code>`), name)
    assert.ok(page.includes(`<article id="${operation.operationId}"`), name)
  }
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  assert.equal(new Set(ids).size, ids.length)
  for (const [, target = ''] of page.matchAll(/href="([^"]+)"/g)) {
    if (target.startsWith('#')) assert.ok(ids.includes(target.slice(1)), target)
    else if (target !== 'data:,')
      assert.equal((await api.get(new URL(target, `${api.url}/docs`).pathname)).status, 200, target)
  }
})

test('the page runs no script and loads nothing from elsewhere', async (t) => {
  const api = await startDescribedApi(t)
  const { body: page } = (await api.get('/docs')) as { body: string }
  assert.ok(!/<script|<iframe|<object|<img| on\w+=| style=|javascript:/i.test(page))
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
  assert.ok(!page.includes('<script') && !page.includes('alert(1)</'))
})
