/** The playground over HTTP. Its browser tests are in test/browser/. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playgroundFiles, playgroundPath } from '../../src/platform/graphql/playground/playground.ts'
import { type Api, shareApi, startApi } from '../support/api.ts'

const files = Object.entries(playgroundFiles).map(
  ([name, { file }]) => [`${playgroundPath}/${name}`, { file }] as const,
)
const all = { [playgroundPath]: { file: 'page.html' }, ...Object.fromEntries(files) }
const paths = Object.keys(all)

const shared = shareApi()

async function statuses(api: Api): Promise<number[]> {
  const responses = await Promise.all(paths.map((path) => api.get(path)))
  for (const { status, body } of responses) if (status !== 200) assert.deepEqual(body, { error: 'Not found' })
  return [...new Set(responses.map(({ status }) => status))]
}

const settings: [env: Record<string, string>, status: number][] = [
  [{}, 200],
  [{ GQL_PLAYGROUND: 'false' }, 404],
  [{ NODE_ENV: 'production' }, 404],
  [{ NODE_ENV: 'production', GQL_PLAYGROUND: 'true' }, 200],
]
for (const [env, status] of settings) {
  const given = Object.entries(env).map((pair) => pair.join('='))
  test(`the playground is available in development, and in production only if configured: ${given}`, async (t) => {
    const api = given.length === 0 ? await shared() : await startApi(t, { env })
    assert.deepEqual(await statuses(api), [status])
  })
}

test('the page is called Latchkey and references only its own files', async () => {
  const api = await shared()
  const { body: page } = (await api.get('/graphiql')) as { body: string }
  assert.match(page, /<title>Latchkey<\/title>/)
  const targetsOf = (tags: RegExp) => [...page.matchAll(tags)].map(([, target = '']) => target)
  const targets = targetsOf(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)
  assert.deepEqual(targetsOf(/<(?!link|script)[^>]* (?:href|src)="([^"]+)"/g), ['console', 'docs'], 'links')
  const named = targets.filter((target) => target !== 'data:,').map((target) => new URL(target, `${api.url}/graphiql`))
  assert.deepEqual(
    named.map(({ origin, pathname }) => [origin, pathname]).sort(),
    paths
      .filter((path) => path !== '/graphiql')
      .map((path) => [api.url, path])
      .sort(),
  )
})

test('the content security policy allows only these scripts and styles', async () => {
  const api = await shared()
  const { headers, body } = await api.get('/graphiql')
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none'", "script-src 'self';", "connect-src 'self';", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(rule), rule)
  }
  assert.ok(!/unsafe|https?:|\*/.test(policy))
  assert.ok(!/<style| style=| on\w+=|<script(?! (?:defer|type="module") src=)/.test(body))
})

test('every file has its content type, is compressed on request, and is revalidated with an ETag', async () => {
  const api = await shared()
  const types = { html: 'text/html', css: 'text/css', js: 'text/javascript' }
  for (const [path, { file }] of Object.entries(all)) {
    const type = types[file.split('.').at(-1) as keyof typeof types]
    for (const encoding of ['identity', 'br', 'gzip']) {
      const { status, headers } = await api.request('GET', path, { headers: { 'accept-encoding': encoding } })
      assert.deepEqual([status, headers.get('content-type')], [200, `${type}; charset=utf-8`], path)
      assert.equal(headers.get('cache-control'), 'no-cache')
      if (file.includes('.min.') && encoding !== 'identity') assert.equal(headers.get('content-encoding'), encoding)
      const known = { 'accept-encoding': encoding, 'if-none-match': headers.get('etag') ?? '' }
      const again = await api.request('GET', path, { headers: known })
      assert.deepEqual([again.status, again.body], [304, ''], path)
    }
  }
})
