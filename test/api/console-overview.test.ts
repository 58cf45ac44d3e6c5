import assert from 'node:assert/strict'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { share, startApi, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { engines, onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { enableTwoFactor, logIn, register, signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { findTableScans, recordStatements } from '../support/query-plans.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'

const path = '/console/overview'
const daySeconds = 86_400
const roles = {
  admin: '*',
  watcher: 'overview.view',
  users: 'users.view',
  audit: 'audit.view',
  webhooks: 'webhooks.view',
  backups: 'backups.view',
  viewer: 'posts.view',
}
/** What everybody sees who may open the page. */
const own = ['products', 'database', 'requests', 'nodes', 'recent-changes']
const probe = join(import.meta.dirname, '..', 'support', 'extensions', 'probe.ts')

const cardsOn = ({ html }: ConsolePage) => [...html.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id)

/** A large figure, by its name. */
function figureOn({ html }: ConsolePage, name: string): string {
  const [, after] = html.split(`<dt>${name}</dt><dd>`)
  return after?.split('<')[0] ?? assert.fail(`there is no figure of ${name}`)
}

/** The rows of the table behind a chart. */
function tableOn({ html }: ConsolePage, title: string): string[][] {
  const [, table = ''] = html.split(`<summary>${title}, as a table</summary>`)
  const [, rows = ''] = /<tbody>(.*?)<\/tbody>/s.exec(table) ?? []
  return rows
    .split('</tr>')
    .slice(0, -1)
    .map((row) => [...row.matchAll(/<t[hd][^>]*>([^<]*)</g)].map(([, text = '']) => text))
}

onAnyEngine('the overview', (engine) => {
  const start = share(async (owner) => {
    const list = Object.entries(roles).map(([name, permission]) => `${name} { permissions = ["${permission}"] }`)
    const config = createConfig(owner, { auth: `auth { roles { ${list.join('\n')} } }` })
    const api = await startApiWithRoles(owner, {
      engine,
      config,
      env: unlimitedRates,
      extend: (app) =>
        void app.get('/broken', { config: { access: 'public', docs: false } }, () => {
          throw new Error('broken on purpose')
        }),
    })
    // To the next noon, so that no day ends by itself.
    api.clock.advance(daySeconds - ((api.clock.nowSeconds() + daySeconds / 2) % daySeconds))
    return api
  })

  async function browse(...given: string[]) {
    const api = await start()
    const { email } = await api.signInAs(...given)
    const browser = openConsole(api)
    await browser.signIn(email)
    return browser
  }

  test('has for each viewer what they may see, and is the first page of those who may open it', async () => {
    const expected: Record<string, string[]> = {
      users: ['users'],
      audit: ['sign-ins'],
      webhooks: ['webhooks'],
      backups: ['backups'],
      viewer: [],
    }
    for (const [role, added] of Object.entries(expected)) {
      const watcher = await browse('watcher', role)
      assert.equal((await watcher.open('/console')).location, path, role)
      assert.deepEqual(cardsOn(await watcher.open(path)).sort(), [...own, ...added].sort(), role)

      const other = await browse(role)
      assert.notEqual((await other.open('/console')).location, path, role)
      assert.equal((await other.open(path)).status, 403, role)
      assert.ok(!(await other.open('/console/products')).html.includes(`href="${path}"`), role)
    }
    const all = await (await browse('admin')).open(path)
    assert.deepEqual(cardsOn(all).sort(), [...own, ...Object.values(expected).flat()].sort())
    assert.doesNotMatch(all.html, / style=|<script(?! src=)/)
  })

  test('counts products, users, sign-ins and failures, by day', async () => {
    const api = await start()
    const browser = await browse('admin')
    const names = ['Products in all', 'Users in all', 'Sign-ins in 30 days', 'Failures in 30 days']
    const read = async () => {
      const page = await browser.open(path)
      return { page, figures: names.map((name) => Number(figureOn(page, name))) }
    }
    const before = await read()
    const user = await signIn(api)
    await createProduct(api, user.access, { name: 'Lamp <1>' })
    await enableTwoFactor(api, user)
    await logIn(api, user.email)
    await logIn(api, user.email, 'wrong')
    await logIn(api, 'nobody@example.com', 'wrong')
    const { page, figures } = await read()
    // Of the sign-ins, one is without a second factor. The password alone is no sign-in.
    assert.deepEqual(
      figures.map((figure, i) => figure - (before.figures[i] ?? 0)),
      [1, 1, 1, 2],
    )
    assert.match(page.text, /Created Lamp <1> by /)
    const days = tableOn(page, 'Sign-ins by day')
    assert.equal(days.length, 30)
    assert.deepEqual(days.at(-1)?.slice(1), figures.slice(2).map(String))
    assert.match(page.html, /<svg role="img" aria-label="Sign-ins by day\. Sign-ins: \d+, Failures: \d+\. Most: /)

    api.clock.advance(daySeconds)
    await register(api)
    const later = tableOn(await browser.open(path), 'Sign-ins by day')
    assert.deepEqual(later.at(-2), days.at(-1), 'what was today is yesterday')
  })

  test('counts requests and errors, and lists the routes', async () => {
    const api = await start()
    const browser = await browse('watcher')
    const before = await browser.open(path)
    for (let i = 0; i < 3; i++) assert.equal((await api.get('/broken')).status, 500)
    const after = await browser.open(path)
    const difference = (name: string) => Number(figureOn(after, name)) - Number(figureOn(before, name))
    // The page before is one.
    assert.deepEqual([difference('Requests'), difference('Errors')], [4, 3])
    const minutes = tableOn(after, 'Requests by minute')
    assert.equal(minutes.length, 60)
    const sum = minutes.reduce((total, [, answered, errors]) => total + Number(answered) + Number(errors), 0)
    assert.equal(String(sum), figureOn(after, 'Requests'))
    assert.match(after.text, /Slowest routes .* (GET|POST) \/\S+ \d+ \d+ [\d.]+ m?s/)
    assert.match(figureOn(after, 'Half within (p50)'), /^[\d.]+ m?s$/)
    assert.match(figureOn(after, 'Size'), /^[\d.]+ [kMG]B$/)
    assert.match(after.text, /This node 1 \d+\.\d+\.\d+/)
  })

  test('says how far webhooks are behind with what they want, and how old the last backup is', async () => {
    const api = await start()
    const browser = await browse('admin')
    const behind = async () => figureOn(await browser.open(path), 'Behind at most')
    assert.equal(await behind(), '–')
    const { access } = await api.signInAs('admin')
    // Nobody listens there.
    const webhook = { url: 'http://127.0.0.1:65009/', types: ['product.deleted'] }
    const { body, status } = await api.post('/api/admin/webhooks', webhook, access)
    assert.equal(status, 201, JSON.stringify(body))
    const id = await createProduct(api, access)
    api.clock.advance(60)
    assert.equal(await behind(), '0 seconds', 'it does not want that')
    await api.delete(`${productsPath}/${id}`, access)
    api.clock.advance(7200)
    assert.equal(await behind(), '2 hours')
    const { access: later } = await api.signInAs('admin')
    assert.equal((await api.delete(`/api/admin/webhooks/${body.data.id}`, later)).status, 204)

    assert.equal(figureOn(await browser.open(path), 'Age of the last that succeeded'), 'None')
    await api.db.write({
      sql: `INSERT INTO backups (started_at, finished_at, file, bytes, row_count, proved)
            VALUES ($1, $1, 'a.archive', 1, 1, TRUE)`,
      params: [api.clock.nowSeconds() - 3 * 3600],
    })
    assert.equal(figureOn(await browser.open(path), 'Age of the last that succeeded'), '3 hours')
  })

  test('costs the same however large the tables are', async () => {
    const api = await start()
    const browser = await browse('admin')
    await browser.open(path)
    const statements = recordStatements(api.db)
    assert.equal((await browser.open(path)).status, 200)
    const tables = ['audit', 'changes', 'users', 'products', 'sessions', 'web_sessions']
    assert.ok(statements().length > 8, `only ${statements().length} statements`)
    assert.deepEqual(await findTableScans(api, statements(), tables), [])
    const counted = statements().filter(
      ({ sql }) => /count\(\*\)/i.test(sql) && /\b(audit|changes|users|products)\b/.test(sql),
    )
    assert.deepEqual(counted, [])
  })

  testInFull('counts the requests of all threads, and shows how many there are', async (t) => {
    const env = { LATCHKEY_EXTENSIONS: probe, DEFAULT_ROLES: 'admin' }
    const api = await startApi(t, { engine, threads: 2, env })
    const { email } = await signIn(api)
    const browser = openConsole(api)
    await browser.signIn(email)
    const before = await browser.open(path)
    const answers = await Promise.all(Array.from({ length: 40 }, () => askAlone(`${api.url}/probe/thread`)))
    assert.equal(new Set(answers).size, 2, 'both threads have served')
    const after = await browser.open(path)
    assert.equal(Number(figureOn(after, 'Requests')) - Number(figureOn(before, 'Requests')), 41)
    assert.match(after.text, /This node 2 \d+\.\d+\.\d+/)
  })
})

if (engines.includes('postgres')) {
  test('every node on a PostgreSQL database is listed while it runs', async (t) => {
    const env = { DEFAULT_ROLES: 'admin' }
    const first = await startApi(t, { engine: 'postgres', env, threads: 1 })
    const second = await startApi(t, { env: { ...env, DATABASE_URL: first.databaseUrl }, threads: 1 })
    const { email } = await signIn(first)
    const browser = openConsole(first)
    await browser.signIn(email)
    const nodes = async () => ((await browser.open(path)).html.match(/data-label="Last seen"/g) ?? []).length
    await eventually(async () => assert.equal(await nodes(), 2))
    await second.close()
    assert.equal(await nodes(), 1)
  })
}

/** On a connection of its own, which the kernel gives to either thread. */
function askAlone(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, async (response) => {
      let body = ''
      for await (const part of response) body += part
      resolve(body)
    })
    sent.once('error', reject)
    sent.end()
  })
}
