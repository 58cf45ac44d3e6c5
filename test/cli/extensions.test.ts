/** Extensions, loaded by the configuration. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createConfig } from '../support/config.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { startProcess } from '../support/process.ts'

const orders = join(root, 'examples', 'orders', 'orders.ts')
const notes = join(root, 'examples', 'notes')

onAnyEngine('an extension', (engine) => {
  test('is loaded by migrate, graphql:schema, --help, its own commands and start', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine)
    const env = { DATABASE_URL, LATCHKEY_EXTENSIONS: `${orders},${notes}` }
    const migrated = await runLoaded(['migrate'], { env })
    assert.equal(migrated.code, 0, migrated.stderr)
    assert.match(
      migrated.stdout,
      /applied 0009-description-last\.sql\n(?:applied [^\n]*\n)*applied orders\/0001-orders\.sql\napplied orders\/0002-/,
    )
    assert.match(migrated.stdout, /applied notes\/0001-notes\.sql/)
    assert.match((await runLoaded(['migrate'], { env })).stdout, /nothing to do/)
    const schema = await runLoaded(['graphql:schema'], { env })
    assert.match(schema.stdout, /input CreateOrderInput \{[^}]*items: \[OrderItemInput!\]/)
    assert.match((await runLoaded(['--help'], { env })).stdout, /orders:cancel-stale/)
    const cancelled = await runLoaded(['orders:cancel-stale', '--days', '30'], { env })
    assert.deepEqual([cancelled.code, cancelled.stdout], [0, 'cancelled 0 orders\n'], cancelled.stderr)
    const { url } = await startProcess(t, { env: { ...env, JWT_SECRET: 'x'.repeat(32) } })
    assert.equal((await fetch(`${url}/api/orders`)).status, 401)
    // Without it, its tables stay and everything else works.
    const without = await runLoaded(['migrate'], { env: { DATABASE_URL } })
    assert.match(without.stdout, /nothing to do/, without.stderr)
  })
})

test('is found by a path relative to the configuration folder, as a folder, or as a package', async (t) => {
  const config = createConfig(t, { extensions: 'extensions = ["../shop", "some-package"]' })
  const shop = join(config, '..', 'shop')
  mkdirSync(shop)
  writeFileSync(
    join(shop, 'index.ts'),
    `import { defineFeature } from 'latchkey/feature'
     import { query } from 'latchkey/graphql'
     const element = (name) => query({ name, type: 'Boolean', access: 'public', resolve: () => true })
     const shop = defineFeature({ name: 'shop', create: () => undefined, elements: () => [element('open')] })
     const stock = defineFeature({ name: 'stock', create: () => undefined, elements: () => [element('full')] })
     export default [shop, stock]`,
  )
  const packages = join(config, '..', 'node_modules')
  mkdirSync(packages)
  cpSync(notes, join(packages, 'some-package'), { recursive: true })
  writeFileSync(join(packages, 'some-package', 'package.json'), '{ "type": "module", "exports": "./index.ts" }')
  const { code, stdout, stderr } = await runLoaded(['--config', config, 'graphql:schema'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /open: Boolean/)
  assert.match(stdout, /full: Boolean/)
  assert.match(stdout, /notes: \[Note!\]/)
})

test('that cannot be loaded, or clashes, stops every command with its name and the reason', async (t) => {
  const folder = temporaryFolder(t)
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const feature = (text: string) =>
    `import { defineFeature, integer, key } from 'latchkey/feature'
     export default defineFeature({ name: 'mine', create: () => undefined, ${text} })`
  for (const [file, reason] of [
    [join(folder, 'none.ts'), /extension \S+none\.ts: there is no /],
    [write('broken.ts', 'this is no code'), /extension \S+broken\.ts: /],
    [write('throws.ts', 'throw new Error("no luck")'), /extension \S+throws\.ts: no luck/],
    [
      write('other.ts', 'export default { name: "other" }'),
      /extension \S+other\.ts: its default export is not a feature/,
    ],
    [write('empty.ts', 'export default []'), /extension \S+empty\.ts: its default export is not a feature/],
    [write('policy.ts', feature('policies: { posts: {} }')), /feature mine: the policy posts is taken by posts/],
    [write('event.ts', feature("auditEvents: { login: 'x' }")), /feature mine: the audit event login is taken by auth/],
    [
      write('key.ts', feature("config: { x: key('server.port', integer({ min: 1, max: 2 }), 1) }")),
      /feature mine: the configuration key server\.port is taken by latchkey/,
    ],
    [
      write('name.ts', feature('').replace("'mine'", "'products'")),
      /feature products: the name products is taken by products/,
    ],
    [
      write('command.ts', feature("commands: [{ name: 'user:list', describe() {}, async run() {} }]")),
      /feature mine: the command user:list is taken by admin/,
    ],
    ['no-such-package', /extension no-such-package: Cannot find module 'no-such-package'/],
  ] as const) {
    const env = { DATABASE_URL: `file:${join(folder, 'test.db')}`, LATCHKEY_EXTENSIONS: file }
    const { code, stderr } = await runLoaded(['migrate'], { env })
    assert.match(stderr, reason)
    assert.deepEqual([code, stderr.trim().split('\n').length], [78, 1], stderr)
  }
  assert.ok(!existsSync(join(folder, 'test.db')))
})

test('latchkey new creates a working one under another name', async (t) => {
  const folder = temporaryFolder(t)
  const made = await runLoaded(['new', 'tickets'], { cwd: folder })
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /extensions = \["\S+\/tickets"\]/)
  const env = { LATCHKEY_EXTENSIONS: join(folder, 'tickets') }
  const schema = await runLoaded(['graphql:schema'], { env })
  assert.match(schema.stdout, /tickets: \[Ticket!\]/, schema.stderr)
  const again = await runLoaded(['new', 'tickets'], { cwd: folder })
  assert.match(again.stderr, /cannot write \S+tickets: it exists/)
  assert.equal((await runLoaded(['new', 'Not a name'], { cwd: folder })).code, 64)
})
