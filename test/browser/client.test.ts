/** @latchkey/client from its tarball: in Chromium, in the Node of the machine and in the pinned one. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { root } from '../../src/config/root.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { openBrowser } from '../support/browser.ts'
import { findOwnNode, installClient, readmeBlock, runScript } from '../support/client-package.ts'
import { password, register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { amount, chosen } from '../support/tiers.ts'

const started = share((owner) => startApiWithRoles(owner, { env: unlimitedRates }))
const installed = share(async (owner) => installClient(owner))
const accessSeconds = 1800
/** Its own may be older than the pinned one. */
const ofMachine = "the machine's Node"
const nodes = { [ofMachine]: findOwnNode(), 'the pinned Node': process.execPath }

async function countRotations({ db }: ApiWithRoles, { id }: { id: number }): Promise<number> {
  const sql = `SELECT count(*) AS n FROM audit WHERE user_id = $1 AND event = 'refresh' AND outcome = 'success'`
  return Number((await db.get<{ n: number }>(sql, [id]))?.n)
}

const environment = (api: ApiWithRoles, email: string) => ({
  PATH: process.env.PATH ?? '',
  LATCHKEY_URL: api.url,
  LATCHKEY_EMAIL: email,
  LATCHKEY_PASSWORD: password,
  COOKIE_SECRET: 'a secret of the server in the test',
})

const tsc = join(root, 'node_modules', '.bin', 'tsc')
const typed = `import { createLatchkey, type LatchkeyStorage, memoryStorage } from '@latchkey/client'
const storage: LatchkeyStorage = memoryStorage()
const latchkey = createLatchkey({ url: 'http://localhost:3000', storage })
export async function prices(): Promise<number[]> {
  const { data } = await latchkey.products.list({ sort: '-price' })
  return data.map(({ attributes }) => attributes.price)
}
// @ts-expect-error there is no such order
latchkey.products.list({ sort: 'colour' })
// @ts-expect-error a price is a number
latchkey.products.create({ name: 'Lamp', description: 'Bright', price: '5' })
`

test('the package has JavaScript, declarations and nothing else', async () => {
  const { files, read } = await installed()
  const others = files.filter((file) => !/^dist(\/|$)/.test(file)).sort()
  assert.deepEqual(others, ['LICENSE', 'README.md', 'package.json'])
  assert.ok(files.every((file) => !file.startsWith('dist/') || /(\.d\.ts|\.js|\/\w+)$/.test(file)))
  const { dependencies, version } = JSON.parse(read('node_modules/@latchkey/client/package.json'))
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.equal(version, own.version)
  assert.deepEqual(dependencies, { 'openapi-fetch': own.devDependencies['openapi-fetch'] })
})

test('the package and what it depends on have less than 16 kB compressed', async () => {
  const { files, read } = await installed()
  const scripts = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => read(`node_modules/@latchkey/client/${file}`))
  const bundle = [...scripts, read('node_modules/openapi-fetch/dist/index.mjs')].join('')
  const { length } = gzipSync(bundle)
  assert.ok(length > 5000 && length < 16_000, `${length} bytes`)
})

for (const [where, options] of [
  ['a browser', ['--lib', 'es2022,dom,dom.asynciterable', '--types', '']],
  ['Node', ['--lib', 'es2022', '--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]],
] as const) {
  test(`its declarations compile with the types of ${where} alone, and find mistakes`, async () => {
    const { folder, write } = await installed()
    write('package.json', '{ "type": "module" }')
    write('typed.ts', typed)
    const rules = [
      '--strict',
      '--noEmit',
      '--skipDefaultLibCheck',
      '--singleThreaded',
      '--module',
      'nodenext',
      '--target',
      'es2022',
    ]
    execFileSync(tsc, [...rules, ...options, 'typed.ts'], { cwd: folder, stdio: 'inherit' })
  })
}

const subscription = `
import { createLatchkey } from '@latchkey/client'
const { LATCHKEY_URL: url, LATCHKEY_EMAIL: email, LATCHKEY_PASSWORD: password } = process.env
const latchkey = createLatchkey({ url })
await latchkey.login({ email, password })
const lamp = { name: 'Live', description: 'Bright', price: 1 }
const creating = setInterval(() => latchkey.products.create(lamp), 200)
for await (const { productCreated } of latchkey.subscribe('subscription { productCreated { name } }')) {
  console.log(productCreated.name)
  break
}
clearInterval(creating)
`

for (const [name, node] of chosen(Object.entries(nodes), ([each]) => each === ofMachine)) {
  test(`the example of the README runs in ${name}, and a subscription does`, async () => {
    const [api, { folder, write }] = [await started(), await installed()]
    const { email } = await register(api)
    write('example.mjs', readmeBlock('js', 'async function follow'))
    write('subscription.mjs', subscription)
    const env = environment(api, email)
    const printed = await runScript(node, { folder, script: 'example.mjs', env })
    assert.match(printed, new RegExp(`^${email} changed Desk Lamp\n`))
    assert.match(printed, /product\.created \$19\.99\n(.*\n)*product\.updated \$17\.50\n$/)
    assert.equal(await runScript(node, { folder, script: 'subscription.mjs', env }), 'Live\n')
  })

  test(`a server keeps the session in a cookie, in ${name}: requests at the same time refresh it once`, async (t) => {
    const [api, { folder, write }] = [await started(), await installed()]
    const user = await register(api)
    write('server.mjs', readmeBlock('js', 'cookieStorage'))
    write(
      'listen.mjs',
      `import { server } from './server.mjs'; server.listen(0, () => console.log(server.address().port))`,
    )
    const child = spawn(node, ['listen.mjs'], { cwd: folder, env: environment(api, user.email) })
    t.after(() => child.kill())
    const port = String((await child.stdout.setEncoding('utf8').take(1).toArray())[0]).trim()
    const url = `http://127.0.0.1:${port}`
    const login = await fetch(`${url}/login`, { method: 'POST', body: JSON.stringify({ email: user.email, password }) })
    assert.equal(await login.text(), 'signed_in')
    const given = login.headers.get('set-cookie') ?? ''
    assert.match(given, /^latchkey=[\w-]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)
    assert.ok(given.length < 4096, 'browsers keep no longer ones')
    const ask = (cookie: string) => fetch(url, { headers: { cookie: `theme=dark; ${cookie.split(';')[0]}` } })
    api.clock.advance(accessSeconds)
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(given)))
    for (const answer of answers) assert.equal((JSON.parse(await answer.text()) as { id: number }).id, user.id)
    assert.equal(await countRotations(api, user), 1)
    const renewed = answers[0]?.headers.get('set-cookie') ?? ''
    assert.notEqual(renewed, given)
    assert.equal((await ask(renewed)).status, 200)
    assert.deepEqual([(await fetch(url)).status, (await ask('latchkey=nonsense')).status], [401, 401])
  })
}

test('processes share a session by the storage of the README', async () => {
  const [api, { folder, write }] = [await started(), await installed()]
  const user = await register(api)
  write('sqlite-storage.mjs', readmeBlock('js', 'sqliteStorage'))
  write(
    'shared.mjs',
    `import { createLatchkey } from '@latchkey/client'
import { sqliteStorage } from './sqlite-storage.mjs'
const { LATCHKEY_URL: url, LATCHKEY_EMAIL: email, LATCHKEY_PASSWORD: password } = process.env
const latchkey = createLatchkey({ url, storage: sqliteStorage('session.db') })
if ((await latchkey.session()).kind === 'signed_out') await latchkey.login({ email, password })
console.log((await latchkey.me()).id)`,
  )
  const run = () => runScript(process.execPath, { folder, script: 'shared.mjs', env: environment(api, user.email) })
  assert.equal(await run(), `${user.id}\n`)
  api.clock.advance(accessSeconds)
  assert.deepEqual(await Promise.all([run(), run()]), [`${user.id}\n`, `${user.id}\n`])
  assert.equal(await countRotations(api, user), 1)
})

const imports = {
  '@latchkey/client': '/app/node_modules/@latchkey/client/dist/index.js',
  'openapi-fetch': '/app/node_modules/openapi-fetch/dist/index.mjs',
  react: '/app/react.js',
}
const html = `<!doctype html><title>App</title><link rel="icon" href="data:,"><div id="root"></div>
<script src="/app/react.umd.js"></script><script src="/app/react-dom.umd.js"></script>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">import { App } from '/app/app.js'
ReactDOM.createRoot(document.getElementById('root')).render(React.createElement(App))</script>`
const umd = (name: string) => readFileSync(join(root, 'node_modules', name, 'umd', `${name}.production.min.js`), 'utf8')

/** The files of the README's React application. */
const built = share(async () => {
  const { folder, read, write } = await installed()
  write('app.jsx', readmeBlock('jsx', 'export function App'))
  const options = [
    '--jsx',
    'react',
    '--allowJs',
    '--noCheck',
    '--target',
    'es2022',
    '--module',
    'esnext',
    '--noResolve',
  ]
  execFileSync(tsc, [...options, '--outDir', 'out', 'app.jsx'], { cwd: folder })
  const files: Record<string, string> = {
    '/app/': html,
    '/app/app.js': read('out/app.js'),
    '/app/react.js': 'export const { useEffect, useState } = window.React',
    '/app/react.umd.js': umd('react'),
    '/app/react-dom.umd.js': umd('react-dom'),
  }
  return files
})

/** It, at the origin of the service. */
async function openApp(t: TestContext, { hasLocks = true } = {}) {
  const [api, { read }, made] = [await started(), await installed(), await built()]
  const url = api.url.replace('127.0.0.1', 'localhost')
  const { page, errors, strays } = await openBrowser(t, { url, path: '/health/live' })
  const context = page.context()
  if (!hasLocks) {
    await context.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
  }
  await context.route(`${url}/app/**`, (route) => {
    const { pathname } = new URL(route.request().url())
    const body = made[pathname] ?? read(pathname.slice('/app/'.length))
    return route.fulfill({ body, contentType: pathname === '/app/' ? 'text/html' : 'text/javascript' })
  })
  await page.goto(`${url}/app/`)
  const openTab = async () => {
    const tab = await context.newPage()
    await tab.goto(`${url}/app/`)
    return tab
  }
  return { api, url, page, errors, strays, openTab }
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByPlaceholder('Email').fill(email)
  await page.getByPlaceholder('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Runs in the page, with a client of its own on the storage of the application. */
const withClient = (code: string) => `(async () => {
  const { createLatchkey, indexedDbStorage } = await import('@latchkey/client')
  const latchkey = createLatchkey({ url: location.origin, storage: indexedDbStorage() })
  ${code}
})()`

/** Chromium reports every refused request. */
const isRefusal = (error: string) => error.includes('the server responded with a status of 401')

for (const [name, hasLocks] of [
  ['Web Locks', true],
  ['a lease', false],
] as const) {
  test(`the React example of the README works in Chromium: tabs share the session, with ${name}`, async (t) => {
    const { api, page, errors, strays, openTab } = await openApp(t, { hasLocks })
    const user = await register(api)
    await page.getByPlaceholder('Email').fill(user.email)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Invalid credentials').waitFor()
    await signIn(page, user.email)
    const others = await Promise.all(Array.from({ length: amount({ full: 3, otherwise: 1 }) }, openTab))
    for (const tab of others) await tab.getByRole('button', { name: 'Sign out' }).waitFor()
    const { price } = { price: 12_345.5 + Number(hasLocks) }
    await page.evaluate(
      withClient(`await latchkey.products.create({ name: 'Seen in all tabs', description: '.', price: ${price} })`),
    )
    const shown = `Seen in all tabs $12,34${5 + Number(hasLocks)}.50`
    for (const tab of [page, ...others]) await tab.getByText(shown).first().waitFor()

    api.clock.advance(accessSeconds)
    const ask = withClient('return (await Promise.all([latchkey.me(), latchkey.me()])).map(({ id }) => id)')
    const ids = await Promise.all([page, ...others].map((tab) => tab.evaluate(ask)))
    assert.deepEqual(ids, Array(1 + others.length).fill([user.id, user.id]))
    assert.equal(await countRotations(api, user), 1)

    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, ...others]) await tab.getByText('You have signed out.').waitFor()
    assert.deepEqual([strays, errors.filter((error) => !isRefusal(error))], [[], []])
  })
}

test('a passkey signs in', async (t) => {
  const { api, page } = await openApp(t)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const user = await register(api)
  await signIn(page, user.email)
  const id = await page.evaluate(
    withClient(`
  const { data: options } = await latchkey.api.POST('/api/auth/passkeys/options', { body: { password: '${password}' } })
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const response = (await navigator.credentials.create({ publicKey })).toJSON()
  await latchkey.api.POST('/api/auth/passkeys', { body: { name: 'Laptop', response } })
  await latchkey.logout()
  await latchkey.passkey()
  return (await latchkey.me()).id`),
  )
  assert.equal(id, user.id)
})
