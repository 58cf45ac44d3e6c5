/** Built-in features that `features.disabled` turns off: everything they add is gone, and the rest works. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { products } from '../../src/features/products/products.feature.ts'
import { on } from '../../src/platform/events/events.ts'
import { defineFeature, type Feature } from '../../src/platform/feature.ts'
import { type Api, type Owner, share, startApi } from '../support/api.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { password, signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { loggedPath } from '../support/set-up.ts'
import { isFull } from '../support/tiers.ts'

interface Added {
  /** Only known with the feature. */
  paths: readonly string[]
  /** Its paths in the description of the API start with this. */
  described?: string
  /** Root fields of the GraphQL schema. */
  fields?: readonly string[]
  commands?: readonly string[]
}

const added = {
  products: {
    described: productsPath,
    paths: [productsPath, `${productsPath}/changes`, '/console/products', '/console/products/new'],
    fields: ['products', 'createProduct', 'productCreated', 'productChanges'],
    commands: ['products:import', 'products:seed'],
  },
  posts: { paths: [], described: '/api/posts', fields: ['posts', 'createPost', 'counter'] },
  webhooks: { paths: ['/api/admin/webhooks', '/console/webhooks'], described: '/api/admin/webhooks' },
  passkeys: {
    paths: ['/api/auth/passkeys', '/console/account/passkeys/add'],
    described: '/api/auth/passkeys',
  },
  overview: { paths: ['/console/overview'] },
  backup: { paths: ['/console/backups'], commands: ['backup', 'restore', 'move'] },
} as const satisfies Record<string, Added>

const all = Object.keys(added) as (keyof typeof added)[]
const schemaQuery = `{ __schema { queryType { fields { name } } mutationType { fields { name } }
  subscriptionType { fields { name } } } }`

/** One service for those that have little to do with each other; in `npm run test:full`, one for each. */
const together: readonly (readonly (keyof typeof added)[])[] = isFull
  ? all.map((name) => [name])
  : [['products'], ['overview'], ['posts', 'webhooks', 'passkeys', 'backup']]

/** Backups have an entry in the navigation if they are scheduled. */
function startWithout(owner: Owner, names: readonly string[]): Promise<Api> {
  const env = { FEATURES_DISABLED: names.join(), BACKUP_FOLDER: temporaryFolder(owner), BACKUP_EVERY: '24h' }
  return startApi(owner, { env })
}

/** Creates the first administrator. Returns a browser on the welcome page. */
async function setUp(api: Api): Promise<{ browser: ConsoleBrowser; welcome: string }> {
  const browser = openConsole(api)
  await browser.open(await loggedPath(api))
  const made = await browser.submit('/console/setup', { email: 'root@example.com', name: '', password })
  const page = await browser.follow(made)
  assert.equal(page.status, 200, page.text)
  return { browser, welcome: page.text }
}

/** What is the same without a feature, or is made of the description of the API, which is checked beside. */
const isOpenedOnce = (path: string) => path === '/docs' || path.startsWith('/console/assets/')

/** Opens everything that pages link to, and returns the paths. */
async function crawl(browser: ConsoleBrowser, { isWhole = isFull } = {}): Promise<Set<string>> {
  const seen = new Set<string>()
  const open = ['/', '/console', '/console/setup/done', '/console/search?q=e', '/docs']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    if (isOpenedOnce(path) && !isWhole) continue
    const page = await browser.open(path)
    assert.ok(page.status < 400, `${path}: ${page.status}`)
    const links = [page.location, ...[...page.html.matchAll(/ href="([^"#]*)/g)].map(([, href]) => href)]
    for (const link of links) {
      const plain = link?.split('?', 1)[0]
      if (plain?.startsWith('/') && !seen.has(plain)) open.push(plain)
    }
  }
  return seen
}

async function requireGone(api: Api, browser: ConsoleBrowser, names: readonly (keyof typeof added)[]): Promise<void> {
  const { paths } = (await api.get('/openapi.json')).body
  const { data } = (await api.post('/graphql', { query: schemaQuery })).body
  const fields = Object.values(data.__schema as Record<string, { fields: { name: string }[] } | null>).flatMap(
    (type) => type?.fields.map(({ name }) => name) ?? [],
  )
  assert.ok(fields.includes('me'))
  for (const name of all) {
    const isGone = names.includes(name)
    const parts: Added = added[name]
    for (const path of parts.paths) {
      const { status } = path.startsWith('/console') ? await browser.open(path) : await api.get(path)
      assert.equal(status === 404, isGone, `${path}: ${status}`)
    }
    const { described } = parts
    if (described)
      assert.equal(
        Object.keys(paths).some((path) => path.startsWith(described)),
        !isGone,
        described,
      )
    for (const field of parts.fields ?? []) assert.equal(fields.includes(field), !isGone, field)
  }
}

describe('without', () => {
  for (const names of together) {
    const crawled = share(async (owner) => {
      const api = await startWithout(owner, names)
      const { browser } = await setUp(api)
      const links = await crawl(browser)
      await requireGone(api, browser, names)
      return links
    })
    for (const name of names) {
      test(`${name}, its routes, elements, pages and links are gone, and the rest works`, async () => {
        const links = await crawled()
        for (const path of added[name].paths) assert.ok(!links.has(path), path)
      })
    }
  }
})

onAnyEngine('without all features that can be disabled', (engine) => {
  test('people still sign in and use the console, and the tables are kept', async (t) => {
    const databaseUrl = await createDatabaseUrl(t, engine, { isMigrated: true })
    const env = { DATABASE_URL: databaseUrl }
    const before = await startApi(t, { engine, env })
    const { access } = await signIn(before)
    const id = await createProduct(before, access, { name: 'Kept' })
    await before.close()

    const api = await startApi(t, { engine, env: { ...env, FEATURES_DISABLED: all.join(', ') } })
    const { browser, welcome } = await setUp(api)
    assert.doesNotMatch(welcome, /[Pp]roducts|BACKUP_EVERY/)
    assert.match(welcome, /curl '\S+\/openapi\.json'/)
    // GET answers the page for unknown paths of the console.
    assert.equal((await browser.post('/console/setup/samples')).status, 405)
    assert.equal((await api.post('/api/auth/passkeys/login/options')).status, 404)
    assert.equal((await api.post('/api/posts', { title: 'a', body: 'b' })).status, 404)
    assert.doesNotMatch((await browser.open('/')).text, /[Pp]roducts/)
    assert.equal((await browser.open('/console')).location, '/console/users')
    await crawl(browser, { isWhole: true })
    await requireGone(api, browser, all)
    const answer = await api.post('/graphql', { query: 'mutation { createPost(title: "a", body: "b") }' })
    assert.equal(answer.body.errors[0].message, 'This schema has no mutation')
    assert.ok(!('data' in answer.body))
    await api.close()

    const after = await startApi(t, { engine, env })
    assert.equal((await after.get(`${productsPath}/${id}`)).body.data.attributes.name, 'Kept')
  })
})

test('their commands are unknown, and their settings are not required', async (t) => {
  const env = {
    DATABASE_URL: `file:${temporaryFolder(t)}/test.db`,
    FEATURES_DISABLED: all.join(),
    BACKUP_EVERY: '24h',
  }
  const { stdout } = await runLoaded(['--help'], { env })
  for (const name of all) {
    const { commands = [] }: Added = added[name]
    for (const command of commands) {
      assert.ok(!stdout.includes(`  ${command} `), command)
      const { code, stderr } = await runLoaded([command], { env })
      assert.equal(code, 64)
      assert.match(stderr, /unknown command/)
    }
  }
  const migrated = await runLoaded(['migrate'], { env })
  assert.match(migrated.stdout, /applied \d{4}-products\.sql/, migrated.stderr)
  assert.match(migrated.stdout, /applied \d{4}-posts\.sql/)
  const schema = await runLoaded(['graphql:schema'], { env })
  assert.deepEqual(schema.stdout.match(/^ {2}\w+(?=[:(])/gm), ['  me', '  id', '  email', '  name', '  roles'])
  assert.doesNotMatch(schema.stdout, /type (?:Mutation|Subscription)/)
  const checked = await runLoaded(['doctor', '--json'], { env })
  assert.doesNotMatch(checked.stdout, /backup/)
})

test('names that cannot be disabled are a configuration error with the nearest one', async (t) => {
  for (const [value, reasons] of [
    ['prodcuts', ['"prodcuts" is not a feature; did you mean "products"?']],
    [
      'users,posts,x',
      [
        '"users" cannot be disabled; these can be disabled: products, posts, webhooks, passkeys, overview, backup',
        '"x" is not a feature; these can be disabled: products, posts, webhooks, passkeys, overview, backup',
      ],
    ],
  ] as const) {
    const env = { DATABASE_URL: `file:${temporaryFolder(t)}/test.db`, FEATURES_DISABLED: value }
    const { code, stderr } = await runLoaded(['migrate'], { env })
    assert.deepEqual([code, stderr], [78, reasons.map((each) => `latchkey: FEATURES_DISABLED: ${each}\n`).join('')])
  }
})

describe('an extension', () => {
  const start = (t: TestContext, extension: Feature) =>
    startApi(t, { extensions: [extension], env: { FEATURES_DISABLED: 'products' } })

  test('that needs a disabled feature is named', async (t) => {
    const shop = defineFeature({ name: 'shop', needs: { products }, create: () => undefined })
    const line = 'FEATURES_DISABLED: "products" cannot be disabled, because shop needs it'
    await assert.rejects(start(t, shop), (error: { lines?: string[] }) => {
      assert.deepEqual(error.lines, [line])
      return true
    })
  })

  test('that uses one, if it is there, is created without it', async (t) => {
    let given: unknown
    const create = (_: unknown, needs: object) => {
      given = needs
    }
    await start(t, defineFeature({ name: 'shop', uses: { products }, create }))
    assert.deepEqual(given, {})
  })

  test('that listens to its changes is named', async (t) => {
    const listeners = () => [on('product.created', { durable: 'shop' }, () => undefined)]
    const shop = defineFeature({ name: 'shop', create: () => undefined, listeners })
    await assert.rejects(start(t, shop), /feature shop: the durable listener "shop" is for "product\.created"/)
  })
})
