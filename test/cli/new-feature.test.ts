/** One more feature: as an extension that the configuration names, and as one of our own by one entry of one list. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createClient } from '../../src/testing/client.ts'
import { type Owner, share } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { writeMigrations } from '../support/migrations.ts'
import { latchkey, startProcess } from '../support/process.ts'
import { chosen, isFull } from '../support/tiers.ts'

/** With a route, an element, a policy, a migration and a page. */
const source = `
import { join } from 'node:path'
import { defineFeature, html } from 'latchkey/feature'
import { query } from 'latchkey/graphql'

export const visits = defineFeature({
  name: 'visits',
  migrations: join(import.meta.dirname, 'migrations'),
  create: ({ db }) => ({
    add: () => db.write({ sql: 'INSERT INTO visits (id) SELECT count(*) + 1 FROM visits' }),
    count: async () => (await db.get('SELECT count(*) AS n FROM visits')).n,
  }),
  policies: { visits: { count: (user) => user?.email === 'ada@example.com' } },
  routes: (visits) => (app) => {
    const access = { policy: 'visits', action: 'count', entity: async () => ({}) }
    app.post('/api/visits', { config: { access: 'public' } }, async (_request, reply) => {
      await visits.add()
      return reply.code(204).send()
    })
    app.get('/api/visits', { config: { access } }, async () => ({ data: await visits.count() }))
  },
  elements: (visits) => [query({ name: 'visits', type: 'Int', access: 'public', resolve: () => visits.count() })],
  pages: (visits) => ({
    navigation: [{ path: '/console/visits', name: 'Visits' }],
    routes: ({ send }) => (app) =>
      void app.get('/visits', { config: { access: 'authenticated', docs: false } }, async (request, reply) =>
        send(request, reply, { title: 'Visits', content: html\`<h1>\${await visits.count()} visits</h1>\` }),
      ),
  }),
})
export default visits
`

interface Added {
  program: string
  env: Record<string, string>
  /** What `migrate` calls its migration. */
  migration: string
}

function asExtension(t: TestContext): Added {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'index.ts'), source)
  writeMigrations(join(folder, 'migrations'), { '0001-visits': 'CREATE TABLE visits (id INTEGER PRIMARY KEY);' })
  return { program: root, env: { LATCHKEY_EXTENSIONS: folder }, migration: 'visits/0001-visits.sql' }
}

/** All tests use one copy, which Node has then compiled. */
const shared = share(async (owner) => inTheList(owner))

/** A copy of the program with a folder in features/ and an entry in the list. No other file is touched. */
function inTheList(t: Owner): Added {
  const program = copyProgram(t)
  const feature = join(program, 'src', 'features', 'visits')
  mkdirSync(feature)
  writeFileSync(
    join(feature, 'visits.feature.ts'),
    source.replace(/'latchkey\/(\w+)'/g, (_, name: string) => `'../../public/${name}.ts'`),
  )
  writeMigrations(join(feature, 'migrations'), { '0900-visits': 'CREATE TABLE visits (id INTEGER PRIMARY KEY);' })
  const list = join(program, 'src', 'app', 'features.ts')
  const text = readFileSync(list, 'utf8')
  const changed = text.replace('  console,\n]', '  console,\n  visits,\n]')
  assert.notEqual(changed, text)
  writeFileSync(list, `import { visits } from '../features/visits/visits.feature.ts'\n${changed}`)
  return { program, env: compiledIn(program), migration: '0900-visits.sql' }
}

/** What Node makes of the copied files goes with them. test/cli/bundle.test.ts is about bundles. */
function compiledIn(program: string) {
  return { NODE_COMPILE_CACHE: join(program, 'compiled'), LATCHKEY_BUNDLE: 'off' }
}

function copyProgram(t: Owner): string {
  const folder = temporaryFolder(t)
  for (const part of ['bin', 'config', 'package.json', 'package-lock.json', 'src']) {
    cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const ways = [
  ['an extension', asExtension],
  ['one of our own', shared],
] as const

/** One of our own needs a copy of the program, which Node has to compile. */
onAnyEngine('a new feature', (engine) => {
  for (const [way, add] of chosen(ways, ([name]) => name === 'an extension')) {
    test(`as ${way} has its migration, route, element, policy and page served`, async (t) => {
      const { program, env, migration } = await add(t)
      const DATABASE_URL = await createDatabaseUrl(t, engine)
      const migrated = await latchkey(['migrate'], { program, env: { ...env, DATABASE_URL } })
      assert.equal(migrated.code, 0, migrated.stderr)
      assert.ok(migrated.stdout.endsWith(`applied ${migration}\n`), migrated.stdout)
      const JWT_SECRET = 'x'.repeat(32)
      const { url } = await startProcess(t, { program, env: { ...env, DATABASE_URL, JWT_SECRET, BCRYPT_COST: '4' } })
      const api = createClient(url)
      for (let i = 0; i < 3; i++) assert.equal((await api.post('/api/visits')).status, 204)
      assert.deepEqual((await api.post('/graphql', { query: '{ visits }' })).body, { data: { visits: 3 } })
      const [ada, bob] = [await api.signIn('ada@example.com'), await api.signIn('bob@example.com')]
      assert.deepEqual((await api.get('/api/visits', ada)).body, { data: 3 })
      assert.equal((await api.get('/api/visits', bob)).status, 403)
      assert.ok((await api.get('/openapi.json')).body.paths['/api/visits'])
      const browser = openConsole({ url })
      await browser.signIn('bob@example.com')
      assert.match((await browser.open('/console/account')).html, /<a href="\/console\/visits">.*? Visits<\/a>/)
      assert.match((await browser.open('/console/visits')).html, /<h1>3 visits<\/h1>/)
    })
  }
})

if (isFull) {
  test('a migration of our own with the number of another is refused by the names of both features', async (t) => {
    const { program, env: own } = await shared()
    const migrations = join(program, 'src', 'features', 'visits', 'migrations')
    writeMigrations(migrations, { '0003-visits': 'SELECT 1;' })
    const env = { ...own, DATABASE_URL: `file:${join(temporaryFolder(t), 'test.db')}` }
    const { code, stderr } = await latchkey(['migrate'], { program, env })
    const reason = 'two migrations have the number 0003: 0003-posts.sql of posts and 0003-visits.sql of visits'
    assert.deepEqual([code, stderr], [65, `latchkey: ${reason}\n`])
  })
}
